/* Tokens of web pages (Henzinger 2006, section 2): the words of the text, where
 * - a URL in the text is broken at slashes and dots, and nowhere else;
 * - the URL of an image is one token: whole when it names another host than the
 *   page's, its file name alone when it lies on the page's own host, so that a
 *   page and its images copied to another host keep their tokens.
 *
 * Words are those of words.c: normalised, in lower case.
 *
 * A URL in the text begins with http://, https://, ftp:// or www. (no letter or
 * digit before it) and goes on over the characters that RFC 3986 allows; a dot,
 * comma or bracket that ends it does not belong to it.  Its pieces are tokens in
 * lower case ("http", "www", "a-b", "org", "index_2"); those without a letter or
 * digit are none.
 *
 * An image's URL is taken from src as it is, but for white space, which is left
 * out, and for scheme and host, which are put in lower case.  A relative one lies
 * on the page's own host (<base> is not looked at).  The file name is what
 * follows the last slash, without query and fragment; an empty one is no token. */
#ifndef ND_TEXT_WEB_H
#define ND_TEXT_WEB_H

#include "text/text.h"

/* Replaces *out by the tokens of a page's text.  `images`: the text comes from
 * nd_html_text_images (nd_plain_text with `images`, when it says so), and what
 * stands between two NUL bytes is an image's URL; else NUL only separates.
 * page_url may be empty: then every URL with a host is another one's. */
nd_status nd_web_split(nd_tokens *out, nd_str utf8, bool images, nd_str page_url,
                       nd_error *err) ND_MUST_CHECK;

#endif
