# neardup study web and study library: planted pages, a truth list, tables, charts and page.
. "$SRC/tests/cli/lib/lib.sh"
# Site one: a page, a copy of it, and one with a word changed near its end; site two: the page with
# another end; a stranger; an empty page.
{
  json a "$(words 1 300)" '"url":"http://www.one.org/a"'
  json b "$(words 1 300)" '"url":"http://www.one.org/b"'
  json c "$(words 1 298) x y" '"url":"http://www.one.org/c"'
  json d "$(words 1 299) z" '"url":"http://two.org/d"'
  json e "$(words 1 300 q)" '"url":"http://three.org/e"'
  json f "" '"url":"http://four.org/"'
  json c "$(words 1 300 r)" '"url":"http://five.org/"'
} >corpus.jsonl
printf 'a\tc\t1\na\td\t1\nc\td\t0\n' >truth.tsv
neardup study web corpus.jsonl --truth truth.tsv -o web >web.out
echo "exit $?"
grep '^#' web.out | cut -d '(' -f 1
title "pages, pairs, sites"
cat web/pages.tsv
cut -f 1,5 web/graphs.tsv
cat web/sites.tsv
title "term differences: a-c 4, a-d 2, c-d 4"
cut -f 1-4,8 web/term_differences.tsv
title "precision: two of three are correct"
grep -e '^pairs' -e '^B	' -e '^B, ' -e '^C	' -e '^combined' web/precision.tsv
title "files"
ls web
grep -c '<svg' web/index.html
title "the same for any number of threads"
neardup study web corpus.jsonl --truth truth.tsv --threads 1 | cmp - web.out && echo same
title "library"
neardup study library corpus.jsonl --truth truth.tsv -o library >library.out
echo "exit $?"
cat library/documents.tsv
cut -f 1-6 library/simhash.tsv | sed -n '1,2p'
cut -f 1-3 library/shingles.tsv | sed -n '1,2p'
ls library
title "without truth, of nothing"
: >none.jsonl
neardup study web --format jsonl none.jsonl | sed -n '1,10p'
neardup study library --format jsonl none.jsonl | sed -n '/simhash by/,/^0/p' | tail -n 1
title "refused"
fails study web - </dev/null
fails study web corpus.jsonl --truth missing.tsv >/dev/null
fails study
fails study nothing corpus.jsonl 2>&1 | sed "s/; the studies are.*/; …/"
