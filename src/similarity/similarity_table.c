/* The table of similarities.  It stands alone, as the table of formats does (format_table.c). */
#include "similarity/similarity.h"

ND_WEAK const nd_similarity *const nd_similarities[] = {ND_SIMILARITIES(ND_SIMILARITY_ROW) NULL};
