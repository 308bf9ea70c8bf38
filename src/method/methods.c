/* The table of methods; see settings/method.h. */
#include "settings/method.h"

ND_WEAK const nd_method *const nd_methods[] = {ND_METHODS(ND_METHOD_ROW) NULL};
