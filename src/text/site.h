/* Hosts and sites of URLs.
 *
 * The site (Henzinger 2006, section 1) is the host if it has at most one dot, otherwise the
 * host after its first dot: www.cs.berkeley.edu is on cs.berkeley.edu.  A numeric address is
 * its own site. */
#ifndef ND_TEXT_SITE_H
#define ND_TEXT_SITE_H

#include "base/mem.h"

/* Returns the host in a URL, without user, port and a final dot, as a view of `url` in its
 * original case.  Accepts "//host/path" and "www.host.org/path"; empty if there is no host
 * (mailto:…, "/path", "#top"). */
nd_str nd_url_host(nd_str url);

/* Likewise for an attribute, where "a.b/c" is a file: returns the host of "http://host/…" and
 * "//host/…" only. */
nd_str nd_url_authority(nd_str url);

/* Returns the site of a host, as a view of it. */
nd_str nd_host_site(nd_str host);

/* Compares ignoring the case of ASCII letters. */
bool nd_host_same(nd_str a, nd_str b);

/* Returns a hash of the site of a URL, ignoring case, or 0 if the URL has no host.  Two sites
 * collide with probability 2^-64. */
uint64_t nd_site_key(nd_str url);
uint64_t nd_site_number(nd_str site); /* the hash of a site */

#endif
