/* What a run's pairs rest on, and which of them it can miss, in words. */
#ifndef ND_SETTINGS_DESCRIBE_H
#define ND_SETTINGS_DESCRIBE_H

#include "neardup/run.h"
#include "settings/settings.h"

/* Fills summary->decision and summary->coverage; empty where nothing but the
 * documents decides, and where the predicted recall says it. */
void nd_describe(nd_summary *summary, const nd_settings *s);

#endif
