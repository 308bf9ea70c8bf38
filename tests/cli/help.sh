# Help on a wide and a narrow terminal, suggestions for mistyped words, and the version.
. "$SRC/tests/cli/lib/lib.sh"
commands="dedup pairs cluster explain inspect plan sketch merge info eval study prevalence"
title "every text fits its width"
for width in 40 60 80 100; do
  for command in "" $commands; do
    for help in --help --help-all; do
      COLUMNS=$width neardup $command $help >text || echo "exit $?"
      # Examples are lines to be copied and stay in one piece.
      awk -v w=$width '/^Examples:/ { e = 1 } /^$/ { e = 0 } !e && length($0) > w' text |
        sed "s/^/$command $help, too wide for $width: /"
    done
  done
done
export COLUMNS=80
title "--help shows about a dozen options, --help-all every one"
for command in dedup pairs; do
  neardup $command --help | grep -c '^  -'
  neardup $command --help-all | grep -c '^  -'
done
title "a list of methods is printed once"
for command in dedup pairs sketch study; do neardup $command --help-all | grep -c allpairs; done
for command in "" $commands; do
  title "$command --help"
  neardup $command --help
done
title "dedup --help-all"
neardup dedup --help-all
title "narrow"
for command in "" dedup; do COLUMNS=40 neardup $command --help; done
title "other ways to ask"
neardup dedup --help >text
neardup dedup -h | cmp - text
neardup help dedup | cmp - text
neardup dedup in -o out --format nonsense --help 2>&1 | head -1
neardup --help >text
neardup -h | cmp - text
neardup --help-all | cmp - text
neardup help | cmp - text
neardup >out 2>err; echo "exit $?"
cmp err text
wc -c <out
title "mistyped words"
fails dedpu
fails Pairs
fails help inspekt
fails dedup in.jsonl -o out --treshold 0.9
fails dedup in.jsonl -o out --outptu out
fails eval --thruth a b
fails inspect --hepl
fails inspect in.jsonl --threshold 0.9
fails inspect in.jsonl --tresholds 0.9
title "version"
neardup -V | cmp - <(neardup --version)
neardup --version | sed -E 's/^neardup [0-9]+\.[0-9]+\.[0-9]+ \((gcc|clang) [0-9.]+, CPU level (base|sse41|avx2|avx512)\)$/as it should be/'
NEARDUP_CPU=base neardup --version | grep -o 'CPU level base'
