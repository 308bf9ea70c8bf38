/* The table of formats.  It stands alone: a caller that saw it beside its own code would take its
 * length for that of a table which replaces it (ND_WEAK). */
#include "input/format.h"

ND_WEAK const nd_format *const nd_formats[] = {ND_FORMATS(ND_FORMAT_ROW) NULL};
