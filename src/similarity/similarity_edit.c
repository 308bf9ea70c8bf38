/* edit: the edit distance of the texts, in code points (edit_distance.h). */
#include "similarity/similarity.h"

const nd_similarity nd_similarity_edit = {
    .name = "edit",
    .help = "number of characters to insert, delete or replace; fewer are closer",
    .counts = true,
    .distance = true,
    .ways = ND_WAY_JOIN | ND_WAY_PREFIX_JOIN,
    .joined = ND_JOINED_EDITS,
    .of_texts = nd_edit_distance,
};
