/* Hosts and sites of URLs, as the evaluation of web pages needs them.
 *
 * Site (Henzinger 2006, section 1): the host when it has at most one dot, else
 * the host without what stands before its first dot: www.cs.berkeley.edu gives
 * cs.berkeley.edu.  An address in numbers is its own site. */
#ifndef ND_TEXT_SITE_H
#define ND_TEXT_SITE_H

#include "base/mem.h"

/* The host in a URL, without user, port and a final dot; a view of `url`, in the
 * case it was written in.  Also of "//host/path" and of "www.host.org/path".
 * Empty where there is none (mailto:…, "/path", "#top"). */
nd_str nd_url_host(nd_str url);

/* The host in a URL that names one for certain ("http://host/…", "//host/…"),
 * as in an attribute, where "a.b/c" is a file; else empty. */
nd_str nd_url_authority(nd_str url);

/* The site of a host: a view of it. */
nd_str nd_host_site(nd_str host);

/* Equal but for the case of ASCII letters. */
bool nd_host_same(nd_str a, nd_str b);

/* A number for the site of a URL: equal for equal sites, whatever the case; 0
 * when the URL has no host.  Different sites have different numbers but for a
 * chance of 2^-64. */
uint64_t nd_site_key(nd_str url);
uint64_t nd_site_number(nd_str site); /* the same of its site */

#endif
