/* Describes how a run decides pairs and which of them it can miss. */
#ifndef ND_SETTINGS_DESCRIBE_H
#define ND_SETTINGS_DESCRIBE_H

#include "neardup/run.h"
#include "settings/settings.h"

/* Fills summary->decision and summary->coverage; leaves them empty if only documents decide, and if
 * the predicted recall applies. */
void nd_describe(nd_summary *summary, const nd_settings *s);

#endif
