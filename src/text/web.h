/* Tokens of web pages (Henzinger 2006, section 2): the words of the text, where
 * - a URL in the text is split at slashes and dots only;
 * - the URL of an image is one token: the file name if it is on the host of the page,
 *   otherwise the entire URL, so that a page copied with its images to another host keeps
 *   its tokens.
 *
 * Words are those of words.c: normalised, in lower case.
 *
 * A URL in the text starts with http://, https://, ftp:// or www. (after no letter or digit)
 * and extends over the characters that RFC 3986 allows, except for a dot, comma or bracket at
 * its end.  Its parts are tokens in lower case ("http", "www", "a-b", "org", "index_2"),
 * unless they have no letter or digit.
 *
 * The URL of an image is its src without white space, with scheme and host in lower case.  A
 * relative URL is on the host of the page (<base> is ignored).  The file name is the part
 * after the last slash, without query and fragment; an empty one gives no token. */
#ifndef ND_TEXT_WEB_H
#define ND_TEXT_WEB_H

#include "text/text.h"

/* Replaces *out by the tokens of the text of a page.  With `images`, the text comes from
 * nd_html_text_images, and the bytes between two NULs are the URL of an image; otherwise NUL
 * only separates.  If page_url is empty, every URL with a host is on another host. */
nd_status nd_web_split(nd_tokens *out, nd_str utf8, bool images, nd_str page_url,
                       nd_error *err) ND_MUST_CHECK;

#endif
