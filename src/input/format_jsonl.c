/* jsonl: a line is a JSON object, one of whose members is the text. */
#include "input/format.h"
#include "input/json.h"

enum { TEXT, ID, URL, TIME, KEEP, FIELDS };

/* Most lines decide, so one damaged line does not change the format. */
static int sniff_lines(nd_str head) {
  size_t good = 0, bad = 0;
  for (const char *newline; (newline = memchr(head.p, '\n', head.n));) {
    nd_str line = {head.p, (size_t)(newline - head.p)};
    head.n -= line.n + 1;
    head.p += line.n + 1;
    while (line.n && (*line.p == ' ' || (*line.p >= '\t' && *line.p <= '\r'))) line.p++, line.n--;
    if (line.n == 0) continue;
    if (*line.p == '{' && nd_json_read(NULL, 0, line, NULL) == ND_OK)
      good++;
    else
      bad++;
  }
  return good > bad ? 70 : 0;
}

static int sniff(nd_str head) {
  if (head.n >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0) head.p += 3, head.n -= 3;
  while (head.n && (*head.p == ' ' || (*head.p >= '\t' && *head.p <= '\r'))) head.p++, head.n--;
  if (head.n == 0) return 0;
  if (*head.p != '{') return sniff_lines(head);
  const char *newline = memchr(head.p, '\n', head.n);
  nd_str line = {head.p, newline ? (size_t)(newline - head.p) : head.n};
  if (nd_json_read(NULL, 0, line, NULL) == ND_OK) return 90;
  return newline ? sniff_lines(head) : nd_json_cut_off(line) ? 60 : 0;
}

/* Returns true unless the line is a JSON object, which the rest of a cut line never is. */
static bool is_rest(const nd_frame *frame) {
  return frame->kind != ND_FRAME_DOCUMENT || nd_json_read(NULL, 0, frame->raw, NULL) != ND_OK;
}

/* Returns the name of a field; NULL means the usual one, "" none. */
static nd_str name_of(const char *name, const char *usual) {
  return nd_str_of(name ? name : usual);
}

/* A value as the user sees it: strings unescaped (into `scratch`, which has
 * room: earlier views must not move), null as nothing, others as written. */
static nd_status take(nd_str *out, nd_buf *scratch, const nd_json_field *f, nd_error *err) {
  *out = (nd_str){"", 0};
  if (f->name.n == 0 || f->type == ND_JSON_ABSENT || f->type == ND_JSON_NULL) return ND_OK;
  *out = f->value;
  if (!f->escaped) return ND_OK;
  size_t start = scratch->n;
  ND_TRY(nd_json_unescape(scratch, f->value, err));
  *out = (nd_str){scratch->p + start, scratch->n - start};
  return ND_OK;
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  nd_json_field f[FIELDS];
  f[TEXT].name = name_of(o->text_field && *o->text_field ? o->text_field : NULL, "text");
  f[ID].name = name_of(o->id_field, "id");
  f[URL].name = name_of(o->url_field, "url");
  f[TIME].name = name_of(o->time_field, "time");
  f[KEEP].name = name_of(o->keep_field, "");
  ND_TRY(nd_json_read(f, FIELDS, raw, err));

  int shown = (int)(f[TEXT].name.n < 100 ? f[TEXT].name.n : 100);
  if (f[TEXT].type == ND_JSON_ABSENT || f[TEXT].type == ND_JSON_NULL)
    return nd_fail(err, ND_ERR_DATA, "field \"%.*s\" is %s (see --text-field)", shown,
                   f[TEXT].name.p, f[TEXT].type == ND_JSON_NULL ? "null" : "missing");
  if (f[TEXT].type != ND_JSON_STRING)
    return nd_fail(err, ND_ERR_DATA, "field \"%.*s\" is %s, not a string (see --text-field)", shown,
                   f[TEXT].name.p, nd_json_type_name(f[TEXT].type));

  size_t room = 0;
  for (int i = ID; i < FIELDS; i++) room += f[i].escaped ? f[i].value.n : 0;
  d->body.n = d->head.n = 0;
  if (room) ND_TRY(nd_buf_reserve(&d->head, room, err));
  *out = (nd_document){.kind = ND_KIND_TEXT, .charset = {"utf-8", 5}};
  ND_TRY(take(&out->body, &d->body, &f[TEXT], err));
  ND_TRY(take(&out->id, &d->head, &f[ID], err));
  ND_TRY(take(&out->url, &d->head, &f[URL], err));
  ND_TRY(take(&out->time, &d->head, &f[TIME], err));
  return take(&out->field, &d->head, &f[KEEP], err);
}

const nd_format nd_format_jsonl = {.name = "jsonl",
                                   .help = "a JSON object per line",
                                   .line_based = true,
                                   .sniff = sniff,
                                   .frame = nd_frame_line,
                                   .is_rest = is_rest,
                                   .decode = decode};
