# --tokens web: URLs in the text, images, the page's own host.
. "$SRC/tests/cli/lib/lib.sh"
tokens() { neardup inspect --tokens web --whole "$@" 2>/dev/null | cut -f4,6-; }
title "URLs break at slashes and dots; words stay words"
json url "See http://www.example.org/a-b/index_2.html, or WWW.Example.COM." >text.jsonl
tokens text.jsonl
neardup inspect --whole text.jsonl | cut -f4,6-
title "images: the file name on the page's own host, else the whole URL"
python3 - >pages.warc <<'X'
import sys

def page(name, url, body):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words " + body.encode()
    uri = f"WARC-Target-URI: {url}\r\n" if url else ""
    head = (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{name}>\r\n{uri}"
            f"Content-Type: application/http\r\nContent-Length: {len(http)}\r\n\r\n")
    sys.stdout.buffer.write(head.encode() + http + b"\r\n\r\n")

own, other = "http://www.example.org/dir/page.html", "http://www.example.net/"
images = ("<img src='http://www.example.org/pics/Sun.png'><img src=moon.png>"
          "<img src='/stars.gif?x=1'><img src='//WWW.example.org/a.png'>")
page("own", own, images)
page("other", other, images)
page("unknown", "", images)
page("copy", "http://mirror.example.com/", images.replace("www.example.org", "mirror.example.com")
     .replace("WWW.example.org", "mirror.example.com"))
X
tokens pages.warc
title "a page and its images on another host are the same page"
pairs pages.warc --tokens web --columns similarity,site
title "--url-field names the page's site"
json a "$(words 1 50)" '"address":"http://www.cs.example.org/a"' >sites.jsonl
json b "$(words 1 50)" '"address":"http://ftp.cs.example.org/b"' >>sites.jsonl
json c "$(words 1 50)" '"address":"http://example.org/c"' >>sites.jsonl
json d "$(words 1 50)" >>sites.jsonl
pairs sites.jsonl --columns site --url-field address
pairs sites.jsonl --columns site | cut -f3 | sort -u
