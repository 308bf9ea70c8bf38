/* Tables of rows: methods, formats, similarities.
 *
 * A kind of thing is listed in one macro, LIST(ROW), a word per row; the declarations and the
 * table are made from it.  The table is a weak symbol, so that a program linked with the library's
 * objects (a test, say) can define its own, with rows that the library does not have:
 *
 *   const nd_format *const nd_formats[] = {ND_FORMATS(ND_FORMAT_ROW) & my_format, NULL};
 *
 * Rows are found by name and handed on as pointers; nobody compares them with a certain row. */
#ifndef ND_BASE_TABLE_H
#define ND_BASE_TABLE_H

#define ND_WEAK __attribute__((weak))

#endif
