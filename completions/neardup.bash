# bash completion for neardup.  tests/docs.py compares it with `neardup COMMAND --help-all`.

_neardup_commands='dedup pairs cluster explain inspect plan sketch merge info eval study prevalence help'

# The options of a command.
_neardup_options() {
  local general='--quiet --help --help-all'
  local read="$general --format --id-field --text-field --url-field --time-field --tokens --shingle
    --max-document --max-stdin"
  local write='--resume --force --sync'
  local sketch='--method --candidates --confirm --permutations --family --supershingles --bits --weights
    --features --columns --seed --threads --memory --tmp --progress'
  local find="$sketch --similarity --fingerprint --threshold --recall --bands --rows --agree --agree-bits
    --combined-bits --complete --hamming --sample
    --ignore-boilerplate --boilerplate-share --verify --bucket-cap --against --stats"
  case $1 in
    dedup) echo "$read $find $write --output --cluster --keep --shard --csv" ;;
    pairs) echo "$read $find --collapse --top --csv" ;;
    cluster) echo "$general --threshold --cluster --csv" ;;
    inspect) echo "$read --whole" ;;
    explain) echo "$read $write --seed --progress --output --whole" ;;
    eval) echo "$read --truth --by --documents --corpus --as --judged --threshold --truth-threshold
      --truth-kind --result-kind --json" ;;
    prevalence) echo "$general $write --run --qrels --pairs --pairs-kind --threshold --output --filter-runs" ;;
    study) echo "$read $find $write --output --truth" ;;
    plan) echo "$read $write --threshold --recall --seed --threads --memory --tmp --progress --output
      --precision --documents" ;;
    sketch) echo "$read $sketch $write --output" ;;
    merge) echo "$general $write --output" ;;
    info) echo "$general" ;;
    help) ;;
    *) echo '--help --version' ;;
  esac
}

# The words that an option takes; nothing: file names, or anything.
_neardup_values() {
  case $1 in
    # words: written by tools/man-options
    --format) echo 'auto text lines jsonl warc arc trec sets' ;;
    --tokens) echo 'words web codepoints' ;;
    --method | --candidates | --confirm) echo 'minhash digest exact join allpairs ppjoin ppjoin+ supershingle projection simhash combined combined-site' ;;
    --similarity) echo 'jaccard cosine overlap edit containment' ;;
    --fingerprint) echo 'rabin xxh3 md5' ;;
    --verify) echo 'exact sample sketch none' ;;
    --columns) echo 'similarity exact minhash supershingle projection simhash site' ;;
    --cluster) echo 'star components' ;;
    --resume) echo 'auto never' ;;
    --sync) echo 'yes no' ;;
    --family) echo 'fast linear' ;;
    --weights) echo 'one tf tfidf' ;;
    --features) echo 'tokens shingles' ;;
    --progress) echo 'auto json none' ;;
    # words end
    --shingle) echo 'auto words:5 chars:9 aligned:64' ;;
    --keep) echo 'first longest shortest oldest newest url centre field:' ;;
    --by) echo 'size site' ;;
    --as | --truth-kind | --result-kind | --pairs-kind) echo 'auto pairs clusters' ;;
    --seed) echo 'random' ;;
  esac
}

_neardup() {
  local words=("${COMP_WORDS[@]}") at=$COMP_CWORD word option values i
  COMPREPLY=()
  # bash cuts words at = and :; put the last one together again.
  word=${words[at]}
  i=$at
  while ((i > 1)) && [[ $word == [:=]* || ${words[i - 1]} == *[:=] ]]; do
    ((i--))
    word=${words[i]}$word
  done
  local cut=${word%"${words[at]}"} # what bash will not replace
  [[ ${words[at]} == [:=] ]] && cut=$word
  option=${words[i - 1]}
  if [[ $word == --*=* ]]; then
    option=${word%%=*}
    word=${word#*=}
    cut=${cut#*=}
  fi

  if ((i == 1)) && [[ $option != --* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_neardup_commands --help --version" -- "$word")
    return
  fi
  if [[ ${words[1]} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${_neardup_commands% help}" -- "$word")
    return
  fi
  if ((i == 2)) && [[ ${words[1]} == study && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'sampling sources web library join' -- "$word")
    return
  fi
  case $option in
    -o | --output | --tmp | --filter-runs)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      return
      ;;
    --*-field | --threshold | --recall | --permutations | --bands | --rows | --bucket-cap | \
      --max-document | --threads | --memory | --shard) return ;;
  esac
  values=$(_neardup_values "$option")
  if [[ $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    [[ ${COMPREPLY[*]} == *: ]] && compopt -o nospace 2>/dev/null
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_neardup_options "${words[1]}")" -- "$word")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -F _neardup neardup
