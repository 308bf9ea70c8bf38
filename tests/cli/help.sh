# Help at two widths, and the version.
. "$SRC/tests/cli/lib/lib.sh"
for width in 60 80; do
  export COLUMNS=$width
  for command in "" dedup pairs cluster inspect; do
    title "$command --help, $width columns"
    neardup $command --help >text || echo "exit $?"
    cat text
    # Examples are lines to be copied and stay whole.
    awk -v w=$width '/^Examples:/ { e = 1 } /^Exit status/ { e = 0 } !e && length($0) > w && !/^Usage/' text |
      sed 's/^/too wide: /'
  done
done
title "other ways to ask"
neardup dedup --help >text
neardup dedup -h | cmp - text
neardup help dedup | cmp - text
neardup dedup in -o out --format nonsense --help 2>&1 | head -1
neardup --help >text
neardup -h | cmp - text
neardup help | cmp - text
neardup >out 2>err; echo "exit $?"
cmp err text
wc -c <out
title "narrow"
COLUMNS=42 neardup info --help
title "version"
neardup -V | cmp - <(neardup --version)
neardup --version | sed -E 's/^neardup [0-9]+\.[0-9]+\.[0-9]+ \((gcc|clang) [0-9.]+, CPU level (base|sse41|avx2|avx512)\)$/as it should be/'
NEARDUP_CPU=base neardup --version | grep -o 'CPU level base'
