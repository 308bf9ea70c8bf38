#include "xml_check.h"

#include <stdio.h>
#include <string.h>

static bool xml_fault(xml_check *x, const char *what) {
  int n = (int)(x->end - x->p < 60 ? x->end - x->p : 60);
  snprintf(x->fault, sizeof x->fault, "%s before \"%.*s\"", what, n, x->p);
  return false;
}

static bool xml_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == ':' || c == '_';
}

static size_t xml_name(xml_check *x, char *out, size_t room) {
  size_t n = 0;
  while (x->p < x->end && xml_name_char(*x->p) && n + 1 < room) out[n++] = *x->p++;
  out[n] = '\0';
  return n;
}

/* Text up to one of two characters. */
static bool xml_text(xml_check *x, char stop) {
  while (x->p < x->end && *x->p != stop) {
    unsigned char c = (unsigned char)*x->p;
    if (c == '<') return xml_fault(x, "a bare <");
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return xml_fault(x, "a control");
    if (c == '&') {
      static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      size_t n = 0;
      for (int i = 0; i < 5; i++)
        if (strncmp(x->p, known[i], strlen(known[i])) == 0) n = strlen(known[i]);
      if (!n) return xml_fault(x, "a bare &");
      x->p += n;
      continue;
    }
    if (c >= 0x80) {
      int n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
      if (!n || x->end - x->p < n) return xml_fault(x, "no UTF-8");
      for (int i = 1; i < n; i++)
        if (((unsigned char)x->p[i] & 0xc0) != 0x80) return xml_fault(x, "no UTF-8");
      if (n == 3 && c == 0xed && (unsigned char)x->p[1] >= 0xa0) return xml_fault(x, "a surrogate");
      if (n == 3 && c == 0xef && (unsigned char)x->p[1] == 0xbf && (unsigned char)x->p[2] >= 0xbe)
        return xml_fault(x, "a noncharacter");
      x->p += n;
      continue;
    }
    x->p++;
  }
  return true;
}

static bool xml_tag(xml_check *x) {
  char name[32], attributes[512] = " ", attribute[32];
  x->p++;
  bool close = x->p < x->end && *x->p == '/';
  if (close) x->p++;
  if (!xml_name(x, name, sizeof name)) return xml_fault(x, "no element name");
  if (close) {
    if (x->p >= x->end || *x->p++ != '>') return xml_fault(x, "an unclosed end tag");
    if (x->depth == 0 || strcmp(x->stack[--x->depth], name) != 0)
      return xml_fault(x, "a wrong end tag");
    return true;
  }
  for (;;) {
    bool gap = false;
    while (x->p < x->end && (*x->p == ' ' || *x->p == '\n')) x->p++, gap = true;
    if (x->p >= x->end) return xml_fault(x, "an open tag at the end");
    if (*x->p == '/') {
      x->p++;
      if (x->p >= x->end || *x->p++ != '>') return xml_fault(x, "a bad empty tag");
      return true;
    }
    if (*x->p == '>') {
      x->p++;
      if (x->depth == 64) return xml_fault(x, "too deep");
      strcpy(x->stack[x->depth++], name);
      return true;
    }
    if (!gap || !xml_name(x, attribute, sizeof attribute)) return xml_fault(x, "a bad attribute");
    char marked[40];
    snprintf(marked, sizeof marked, " %s ", attribute);
    if (strstr(attributes, marked)) return xml_fault(x, "a repeated attribute");
    strcat(attributes, attribute);
    strcat(attributes, " ");
    if (x->end - x->p < 2 || x->p[0] != '=' || x->p[1] != '"') return xml_fault(x, "no value");
    x->p += 2;
    if (!xml_text(x, '"')) return false;
    if (x->p >= x->end) return xml_fault(x, "an open value at the end");
    x->p++;
  }
}

bool xml_well_formed(xml_check *x, const char *p, size_t n) {
  *x = (xml_check){.p = p, .end = p + n};
  bool any = false;
  while (x->p < x->end) {
    if (*x->p == '<') {
      if (x->depth == 0 && any) return xml_fault(x, "a second root");
      any = true;
      if (!xml_tag(x)) return false;
    } else if (x->depth == 0) {
      if (*x->p != '\n' && *x->p != ' ') return xml_fault(x, "text outside");
      x->p++;
    } else if (!xml_text(x, '<')) {
      return false;
    }
  }
  return x->depth == 0 && any ? true : xml_fault(x, "open elements at the end");
}
