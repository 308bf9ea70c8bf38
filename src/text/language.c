/* Language estimation; see language.h. */
#include "text/language.h"

#include "text/unicode.h"

enum { LOOK = 1500, LANGUAGES = 23 };

typedef struct little_word {
  const char *word;
  uint32_t languages;
} little_word;

static const char *const names[LANGUAGES] = {
    "English", "German",    "French",    "Spanish",   "Italian",    "Portuguese",
    "Dutch",   "Swedish",   "Danish",    "Norwegian", "Finnish",    "Polish",
    "Czech",   "Hungarian", "Turkish",   "Romanian",  "Indonesian", "Vietnamese",
    "Russian", "Ukrainian", "Bulgarian", "Arabic",    "Persian"};
/* Languages of each word, as bits; sorted by bytes. */
static const little_word little_words[] = {
    {"a", 0xb038},       {"aan", 0x40},       {"aber", 0x2},       {"about", 0x1},
    {"ada", 0x10000},    {"adalah", 0x10000}, {"af", 0x100},       {"akan", 0x10000},
    {"al", 0x18},        {"ale", 0x1800},     {"all", 0x1},        {"alla", 0x10},
    {"als", 0x42},       {"am", 0x2},         {"ama", 0x4000},     {"an", 0x3},
    {"anche", 0x10},     {"and", 0x1},        {"ao", 0x20},        {"are", 0x1},
    {"as", 0x21},        {"at", 0x301},       {"atau", 0x10000},   {"att", 0x80},
    {"até", 0x20},       {"au", 0x8004},      {"auch", 0x2},       {"auf", 0x2},
    {"aus", 0x2},        {"aux", 0x4},        {"av", 0x280},       {"avec", 0x4},
    {"az", 0x2000},      {"azt", 0x2000},     {"años", 0x8},       {"be", 0x1},
    {"been", 0x1},       {"bei", 0x2},        {"bij", 0x40},       {"bir", 0x4000},
    {"bis", 0x2},        {"bisa", 0x10000},   {"ble", 0x200},      {"blev", 0x100},
    {"bu", 0x4000},      {"but", 0x1},        {"by", 0x1001},      {"byl", 0x1000},
    {"być", 0x800},      {"było", 0x800},     {"ca", 0x8000},      {"can", 0x1},
    {"care", 0x8000},    {"ce", 0x8004},      {"cette", 0x4},      {"che", 0x10},
    {"cho", 0x20000},    {"co", 0x1800},      {"com", 0x20},       {"come", 0x10},
    {"comme", 0x4},      {"como", 0x28},      {"con", 0x18},       {"csak", 0x2000},
    {"cu", 0x8000},      {"cuando", 0x8},     {"cui", 0x10},       {"czy", 0x800},
    {"các", 0x20000},    {"có", 0x20000},     {"că", 0x8000},      {"của", 0x20000},
    {"da", 0x4030},      {"daar", 0x40},      {"daha", 0x4000},    {"dalam", 0x10000},
    {"dan", 0x10040},    {"dans", 0x4},       {"dar", 0x8000},     {"dari", 0x10000},
    {"das", 0x22},       {"dass", 0x2},       {"dat", 0x40},       {"de", 0xe3ec},
    {"dei", 0x10},       {"del", 0x18},       {"della", 0x10},     {"delle", 0x10},
    {"dem", 0x2},        {"den", 0x382},      {"dengan", 0x10000}, {"der", 0x142},
    {"des", 0x6},        {"desde", 0x8},      {"det", 0x380},      {"deze", 0x40},
    {"değil", 0x4000},   {"di", 0x10010},     {"die", 0x42},       {"din", 0x8000},
    {"dit", 0x40},       {"dla", 0x800},      {"do", 0x1820},      {"door", 0x40},
    {"dos", 0x28},       {"du", 0x4},         {"durch", 0x2},      {"då", 0x80},
    {"e", 0x30},         {"een", 0x40},       {"efter", 0x180},    {"egy", 0x2000},
    {"ei", 0x400},       {"ein", 0x2},        {"eine", 0x2},       {"einem", 0x2},
    {"einen", 0x2},      {"einer", 0x2},      {"el", 0x2008},      {"ele", 0x20},
    {"elle", 0x4},       {"eller", 0x380},    {"em", 0x20},        {"en", 0x43cc},
    {"entre", 0x8},      {"er", 0x342},       {"era", 0x10},       {"es", 0xa},
    {"est", 0x4},        {"esta", 0x8},       {"este", 0x8008},    {"está", 0x28},
    {"et", 0x304},       {"ett", 0x80},       {"etter", 0x200},    {"että", 0x400},
    {"eu", 0x20},        {"ez", 0x2000},      {"ezt", 0x2000},     {"fi", 0x8000},
    {"foi", 0x20},       {"for", 0x301},      {"fra", 0x300},      {"from", 0x1},
    {"från", 0x80},      {"fue", 0x8},        {"för", 0x80},       {"für", 0x2},
    {"gibi", 0x4000},    {"gli", 0x10},       {"ha", 0x2018},      {"haar", 0x40},
    {"haben", 0x2},      {"había", 0x8},      {"had", 0x41},       {"hade", 0x80},
    {"han", 0x180},      {"har", 0x380},      {"has", 0x1},        {"hasta", 0x8},
    {"hat", 0x2},        {"have", 0x1},       {"heb", 0x40},       {"hebben", 0x40},
    {"heeft", 0x40},     {"hem", 0x40},       {"her", 0x4001},     {"het", 0x40},
    {"hij", 0x40},       {"him", 0x1},        {"hoe", 0x40},       {"hogy", 0x2000},
    {"hun", 0x300},      {"há", 0x20},        {"hän", 0x400},      {"i", 0x1b90},
    {"ich", 0x800},      {"if", 0x1},         {"ik", 0x40},        {"ikke", 0x300},
    {"il", 0x14},        {"ile", 0x4000},     {"im", 0x2},         {"in", 0x53},
    {"ini", 0x10000},    {"inte", 0x80},      {"into", 0x1},       {"is", 0x2041},
    {"isso", 0x20},      {"ist", 0x2},        {"it", 0x1},         {"its", 0x1},
    {"itu", 0x10000},    {"için", 0x4000},    {"ja", 0x400},       {"jag", 0x80},
    {"jak", 0x800},      {"jako", 0x1000},    {"je", 0x1040},      {"jeg", 0x300},
    {"jego", 0x800},     {"jeho", 0x1000},    {"jest", 0x800},     {"joka", 0x400},
    {"jos", 0x400},      {"jsou", 0x1000},    {"juga", 0x10000},   {"już", 0x800},
    {"já", 0x20},        {"k", 0x1000},       {"kadar", 0x4000},   {"kan", 0x380},
    {"karena", 0x10000}, {"ke", 0x10000},     {"kell", 0x2000},    {"khi", 0x20000},
    {"không", 0x20000},  {"ki", 0x6000},      {"které", 0x1000},   {"který", 0x1000},
    {"który", 0x800},    {"kuin", 0x400},     {"kun", 0x400},      {"la", 0x801c},
    {"las", 0x8},        {"le", 0x1c},        {"lebih", 0x10000},  {"les", 0x4},
    {"leur", 0x4},       {"lo", 0x18},        {"loro", 0x10},      {"los", 0x8},
    {"lui", 0x8000},     {"là", 0x20000},     {"ma", 0x10},        {"maar", 0x40},
    {"mai", 0x8000},     {"mais", 0x24},      {"man", 0x2},        {"mas", 0x20},
    {"me", 0x8},         {"med", 0x380},      {"meg", 0x2000},     {"mehr", 0x2},
    {"men", 0x3c0},      {"mereka", 0x10000}, {"met", 0x40},       {"mij", 0x40},
    {"mijn", 0x40},      {"minden", 0x2000},  {"mint", 0x2000},    {"mit", 0x2},
    {"more", 0x1},       {"muito", 0x20},     {"mukaan", 0x400},   {"mutta", 0x400},
    {"muy", 0x8},        {"myös", 0x400},     {"már", 0x2000},     {"más", 0x8},
    {"még", 0x2000},     {"một", 0x20000},    {"na", 0x1820},      {"naar", 0x40},
    {"nach", 0x2},       {"ne", 0x4404},      {"nebo", 0x1000},    {"nel", 0x10},
    {"nella", 0x10},     {"nem", 0x2000},     {"než", 0x1000},     {"người", 0x20000},
    {"như", 0x20000},    {"những", 0x20000},  {"nicht", 0x2},      {"nie", 0x800},
    {"niet", 0x40},      {"niin", 0x400},     {"no", 0x29},        {"noch", 0x2},
    {"noe", 0x200},      {"non", 0x10},       {"nos", 0x20},       {"not", 0x1},
    {"nous", 0x4},       {"nu", 0x8180},      {"nur", 0x2},        {"này", 0x20000},
    {"não", 0x20},       {"när", 0x80},       {"nå", 0x200},       {"o", 0x9838},
    {"och", 0x80},       {"också", 0x80},     {"od", 0x1800},      {"oder", 0x2},
    {"of", 0x41},        {"og", 0x300},       {"også", 0x300},     {"olan", 0x4000},
    {"olarak", 0x4000},  {"olduğu", 0x4000},  {"ole", 0x400},      {"oleh", 0x10000},
    {"oli", 0x400},      {"olla", 0x400},     {"om", 0x3c0},       {"on", 0x401},
    {"only", 0x1},       {"ont", 0x4},        {"ook", 0x40},       {"op", 0x40},
    {"or", 0x1},         {"oraz", 0x800},     {"os", 0x20},        {"other", 0x1},
    {"ou", 0x24},        {"out", 0x1},        {"ovat", 0x400},     {"over", 0x340},
    {"pada", 0x10000},   {"par", 0x4},        {"para", 0x28},      {"pas", 0x4},
    {"pe", 0x8000},      {"pela", 0x20},      {"pelo", 0x20},      {"pentru", 0x8000},
    {"per", 0x10},       {"pero", 0x8},       {"più", 0x10},       {"plus", 0x4},
    {"po", 0x1800},      {"por", 0x28},       {"pour", 0x4},       {"prin", 0x8000},
    {"pro", 0x1000},     {"przez", 0x800},    {"på", 0x380},       {"quando", 0x20},
    {"que", 0x2c},       {"questo", 0x10},    {"qui", 0x4},        {"ra", 0x20000},
    {"s", 0x1000},       {"sa", 0x4},         {"said", 0x1},       {"sau", 0x8000},
    {"saya", 0x10000},   {"se", 0x143c},      {"sein", 0x2},       {"sekä", 0x400},
    {"sen", 0x400},      {"ser", 0x28},       {"ses", 0x4},        {"seu", 0x20},
    {"she", 0x1},        {"si", 0x101c},      {"sich", 0x2},       {"sie", 0x2},
    {"sig", 0x80},       {"sin", 0x8},        {"sind", 0x2},       {"się", 0x800},
    {"ska", 0x80},       {"skal", 0x300},     {"so", 0x3},         {"sobre", 0x8},
    {"som", 0x380},      {"son", 0xc},        {"sono", 0x10},      {"sonra", 0x4000},
    {"sont", 0x4},       {"stato", 0x10},     {"su", 0x18},        {"sua", 0x20},
    {"sunt", 0x8000},    {"suo", 0x10},       {"sur", 0x4},        {"sus", 0x8},
    {"så", 0x380},       {"só", 0x20},        {"să", 0x8000},      {"są", 0x800},
    {"tai", 0x400},      {"tak", 0x1800},     {"también", 0x8},    {"também", 0x20},
    {"te", 0x40},        {"tego", 0x800},     {"telah", 0x10000},  {"tem", 0x20},
    {"than", 0x1},       {"that", 0x1},       {"the", 0x1},        {"their", 0x1},
    {"them", 0x1},       {"there", 0x1},      {"they", 0x1},       {"this", 0x1},
    {"tidak", 0x10000},  {"til", 0x300},      {"till", 0x80},      {"to", 0x801},
    {"todo", 0x8},       {"tot", 0x40},       {"trong", 0x20000},  {"tylko", 0x800},
    {"từ", 0x20000},     {"uit", 0x40},       {"um", 0x22},        {"uma", 0x20},
    {"un", 0x801c},      {"una", 0x18},       {"und", 0x2},        {"under", 0x80},
    {"une", 0x4},        {"untuk", 0x10000},  {"up", 0x1},         {"už", 0x1000},
    {"v", 0x1000},       {"vagy", 0x2000},    {"vain", 0x400},     {"van", 0x2040},
    {"var", 0x4380},     {"ve", 0x5000},      {"ved", 0x300},      {"vi", 0x380},
    {"voi", 0x400},      {"volt", 0x2000},    {"von", 0x2},        {"voor", 0x40},
    {"vor", 0x2},        {"vous", 0x4},       {"và", 0x20000},     {"về", 0x20000},
    {"với", 0x20000},    {"w", 0x800},        {"war", 0x2},        {"was", 0x41},
    {"wat", 0x40},       {"we", 0x1},         {"werden", 0x2},     {"were", 0x1},
    {"what", 0x1},       {"when", 0x1},       {"which", 0x1},      {"who", 0x1},
    {"wie", 0x2},        {"will", 0x1},       {"wird", 0x2},       {"with", 0x1},
    {"worden", 0x40},    {"would", 0x1},      {"wurde", 0x2},      {"y", 0x8},
    {"ya", 0x4008},      {"yang", 0x10000},   {"you", 0x1},        {"z", 0x1800},
    {"za", 0x1800},      {"ze", 0x840},       {"zich", 0x40},      {"zijn", 0x40},
    {"zo", 0x40},        {"zou", 0x40},       {"zu", 0x2},         {"zum", 0x2},
    {"zur", 0x2},        {"à", 0x20},         {"är", 0x80},        {"å", 0x200},
    {"çok", 0x4000},     {"è", 0x10},         {"é", 0x20},         {"és", 0x2000},
    {"été", 0x4},        {"în", 0x8000},      {"über", 0x2},       {"đã", 0x20000},
    {"được", 0x20000},   {"đến", 0x20000},    {"để", 0x20000},     {"że", 0x800},
    {"že", 0x1000},      {"și", 0x8000},      {"або", 0x80000},    {"але", 0x80000},
    {"були", 0x80000},   {"бы", 0x40000},     {"был", 0x40000},    {"більше", 0x80000},
    {"в", 0x1c0000},     {"ви", 0x80000},     {"вони", 0x80000},   {"все", 0x40000},
    {"вы", 0x40000},     {"від", 0x80000},    {"він", 0x80000},    {"да", 0x100000},
    {"для", 0xc0000},    {"до", 0x180000},    {"е", 0x100000},     {"его", 0x40000},
    {"ее", 0x40000},     {"если", 0x40000},   {"есть", 0x40000},   {"же", 0x40000},
    {"з", 0x80000},      {"за", 0x1c0000},    {"и", 0x140000},     {"из", 0x40000},
    {"или", 0x140000},   {"има", 0x100000},   {"його", 0x80000},   {"к", 0x40000},
    {"как", 0x40000},    {"като", 0x100000},  {"което", 0x100000}, {"който", 0x100000},
    {"към", 0x100000},   {"ми", 0x80000},     {"мы", 0x40000},     {"на", 0x1c0000},
    {"не", 0x1c0000},    {"но", 0x40000},     {"о", 0x40000},      {"он", 0x40000},
    {"она", 0x40000},    {"они", 0x40000},    {"от", 0x140000},    {"по", 0x140000},
    {"при", 0x140000},   {"про", 0x80000},    {"с", 0x140000},     {"са", 0x100000},
    {"се", 0x100000},    {"след", 0x100000},  {"със", 0x100000},   {"та", 0x80000},
    {"так", 0x40000},    {"також", 0x80000},  {"то", 0x40000},     {"това", 0x100000},
    {"у", 0xc0000},      {"уже", 0x40000},    {"це", 0x80000},     {"че", 0x100000},
    {"что", 0x40000},    {"що", 0x80000},     {"это", 0x40000},    {"я", 0x40000},
    {"як", 0x80000},     {"якщо", 0x80000},   {"є", 0x80000},      {"і", 0x80000},
    {"آن", 0x400000},    {"أن", 0x200000},    {"إلى", 0x200000},   {"از", 0x400000},
    {"است", 0x400000},   {"التي", 0x200000},  {"الذي", 0x200000},  {"این", 0x400000},
    {"با", 0x400000},    {"بر", 0x400000},    {"برای", 0x400000},  {"بعد", 0x200000},
    {"به", 0x400000},    {"بود", 0x400000},   {"بين", 0x200000},   {"تا", 0x400000},
    {"خود", 0x400000},   {"در", 0x400000},    {"ذلك", 0x200000},   {"را", 0x400000},
    {"شده", 0x400000},   {"على", 0x200000},   {"عن", 0x200000},    {"في", 0x200000},
    {"قد", 0x200000},    {"كان", 0x200000},   {"كل", 0x200000},    {"لا", 0x200000},
    {"لم", 0x200000},    {"ما", 0x200000},    {"مع", 0x200000},    {"من", 0x200000},
    {"می", 0x400000},    {"نیز", 0x400000},   {"های", 0x400000},   {"هذا", 0x200000},
    {"هذه", 0x200000},   {"هم", 0x400000},    {"هو", 0x200000},    {"و", 0x600000},
    {"که", 0x400000},    {"یک", 0x400000}};

static uint32_t languages_of(nd_str word) {
  size_t low = 0, high = sizeof little_words / sizeof *little_words;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const char *other = little_words[middle].word;
    size_t n = strlen(other);
    int order = memcmp(word.p, other, word.n < n ? word.n : n);
    if (order == 0) order = word.n < n ? -1 : word.n > n;
    if (order == 0) return little_words[middle].languages;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return 0;
}

typedef enum script {
  LATIN,
  CYRILLIC,
  ARABIC,
  HAN,
  KANA,
  HANGUL,
  GREEK,
  HEBREW,
  THAI,
  DEVANAGARI,
  OTHER,
  SCRIPTS
} script;
static const char *const script_names[SCRIPTS] = {
    NULL,    "Cyrillic script", "Arabic script", "Chinese",           "Japanese", "Korean",
    "Greek", "Hebrew",          "Thai",          "Devanagari script", "unknown"};
_Static_assert(LANGUAGES + SCRIPTS <= ND_LANGUAGES, "every answer has its place");

static script script_of(uint32_t c) {
  static const struct {
    uint32_t first, last;
    script is;
  } ranges[] = {{0x41, 0x24f, LATIN},     {0x370, 0x3ff, GREEK},    {0x400, 0x52f, CYRILLIC},
                {0x590, 0x5ff, HEBREW},   {0x600, 0x77f, ARABIC},   {0x900, 0x97f, DEVANAGARI},
                {0xe00, 0xe7f, THAI},     {0x1100, 0x11ff, HANGUL}, {0x1e00, 0x1eff, LATIN},
                {0x1f00, 0x1fff, GREEK},  {0x3040, 0x30ff, KANA},   {0x3400, 0x9fff, HAN},
                {0xac00, 0xd7af, HANGUL}, {0xf900, 0xfaff, HAN},    {0x20000, 0x3ffff, HAN}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].is;
  return OTHER;
}

/* Returns the script of most letters.  Japanese also uses Han, so one tenth of kana is enough. */
static script main_script(nd_str text) {
  uint32_t count[SCRIPTS] = {0}, letters = 0;
  for (size_t at = 0; at < text.n;) {
    uint32_t c;
    unsigned n = nd_utf8_decode(&c, text.p + at, text.n - at);
    at += n ? n : 1;
    if (!n) continue;
    if (c == ' ' || (c >= '0' && c <= '9')) continue;
    count[script_of(c)]++;
    letters++;
  }
  if (count[KANA] * 10 > count[HAN] + count[KANA] && count[HAN] + count[KANA] > letters / 3)
    return KANA;
  script best = OTHER;
  for (int i = 0; i < SCRIPTS; i++)
    if (count[i] > count[best]) best = (script)i;
  return letters >= 8 ? best : OTHER;
}

const char *nd_language_guess(nd_str tokens) {
  nd_str text = tokens;
  if (text.n > LOOK) {
    text.n = LOOK;
    while (text.n > 0 && text.p[text.n] != ' ') text.n--;
    if (text.n == 0) text.n = LOOK;
  }
  script s = main_script(text);
  if (s != LATIN && s != CYRILLIC && s != ARABIC) return script_names[s];
  uint32_t hits[LANGUAGES] = {0}, words = 0;
  for (size_t at = 0; at < text.n; words++) {
    const char *space = memchr(text.p + at, ' ', text.n - at);
    size_t end = space ? (size_t)(space - text.p) : text.n;
    uint32_t in = languages_of((nd_str){text.p + at, end - at});
    for (int i = 0; in; i++, in >>= 1) hits[i] += in & 1;
    at = end + 1;
  }
  size_t best = 0, second = 1;
  for (size_t i = 1; i < LANGUAGES; i++) {
    if (hits[i] > hits[best]) {
      second = best;
      best = i;
    } else if (hits[i] > hits[second]) {
      second = i;
    }
  }
  /* Requires at least three function words, one word in twelve, and no tie. */
  bool sure = hits[best] >= 3 && hits[best] * 12 >= words && hits[best] > hits[second];
  return sure ? names[best] : script_names[s] ? script_names[s] : "unknown";
}
