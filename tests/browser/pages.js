// The cases of tests/browser/run.py:  node pages.js BROWSER FOLDER NEARDUP
"use strict";
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");
const { chromium } = require("playwright-core");
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [, , executablePath, folder, neardup] = process.argv;
const url = (name) => "file://" + path.join(folder, name);
const expect = (truth, complaint) => {
  if (!truth) throw new Error(complaint);
};
const same = (got, want, what) =>
  expect(String(got) === String(want), `${what}: ${got}, not ${want}`);

const PHONE = { width: 375, height: 740 };
const DESK = { width: 1200, height: 900 };
let browser;

// A page that must stay silent: no error, no dialog, no request but its own.
async function visit(name, options, look) {
  const context = await browser.newContext({ viewport: DESK, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (m) => faults.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => faults.push(`error: ${e.message}`));
  page.on("dialog", (d) => {
    faults.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on("request", (r) => {
    if (r.url() !== url(name)) faults.push(`request: ${r.url()}`);
  });
  await page.goto(url(name));
  try {
    await look(page);
    expect(faults.length === 0, faults.join("; "));
  } finally {
    await context.close();
  }
}

// Serious and critical faults only; contrast is one of them.
async function accessible(page, what) {
  await page.evaluate(axeSource);
  const result = await page.evaluate(() => window.axe.run());
  const bad = result.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  expect(bad.length === 0,
    what + ": " + bad.map((v) => `${v.id} at ${v.nodes.slice(0, 3).map((n) => n.target)}`).join("; "));
}

async function fits(page) {
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  expect(wide <= 0, `${wide} pixels wider than the window`);
}

const number = (page, id) => page.$eval(`#n-${id}`, (e) => Number(e.value));
const lines = (file) =>
  fs.readFileSync(path.join(folder, file), "utf8").split("\n").filter(Boolean).map((l) => l.split("\t"));
const plain = (text) => Number(text.replace(/,/g, ""));

async function checkNumbers(page, out) {
  const summary = JSON.parse(fs.readFileSync(path.join(folder, out, "summary.json"), "utf8"));
  const c = summary.counts;
  const want = {
    documents: c.documents, kept: c.kept, dropped: c.dropped, rejected: c.rejected, pairs: c.pairs,
    clusters: c.clusters, copies: Math.min(c.exact_copies, c.dropped), empty: c.empty_documents,
    others: c.other_records, candidates: c.candidate_pairs, hot: summary.method.hot_buckets,
  };
  for (const [name, value] of Object.entries(want)) same(await number(page, name), value, name);
  const titles = await page.$$eval("#similarities-t ~ .nd-bar > title", (all) => all.map((t) => t.textContent));
  same(titles.reduce((sum, t) => sum + Number(t.match(/pairs (\d+)$/)[1]), 0), c.pairs, "bars of the histogram");
  const flow = await page.$$eval(".flow rect", (all) => all.map((r) => Number(r.getAttribute("width"))));
  const total = flow.reduce((a, b) => a + b, 0);
  expect(Math.abs(total - 1000) < 10, `the flow bar is ${total} wide`);
  const sizes = await page.$$eval("#cluster-sizes-t ~ .nd-mark > title", (all) => all.map((t) => t.textContent));
  same(sizes.reduce((sum, t) => sum + Number(t.match(/clusters (\d+)$/)[1]), 0), c.clusters, "points of cluster sizes");
  const size = await page.$$eval("#by-size-t ~ .nd-bar > title", (all) => all.map((t) => t.textContent));
  const dropped = size.filter((t) => /dropped/.test(t)).reduce((n, t) => n + Number(t.match(/: (\d+)$/)[1]), 0);
  same(dropped, c.dropped, "dropped by size");
  return summary;
}

// Each threshold is really run.
async function checkSlider(page, input, min) {
  const slider = page.locator("#threshold");
  same(await slider.getAttribute("min"), min, "the lowest threshold");
  for (const t of [min, 62, 80, 85, 90, 97, 100]) {
    if (t < min) continue;
    execFileSync(neardup, ["dedup", input, "-o", `at-${input}-${t}`, "--threshold", (t / 100).toFixed(2), "--method", "join"],
      { cwd: folder, stdio: "ignore" });
    const c = JSON.parse(fs.readFileSync(path.join(folder, `at-${input}-${t}`, "summary.json"), "utf8")).counts;
    await slider.fill(String(t));
    same(plain(await page.textContent("#what-if-kept")), c.kept, `kept at ${t}`);
    same(plain(await page.textContent("#what-if-dropped")), c.dropped, `dropped at ${t}`);
  }
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  same(await page.textContent("#what-if-t"), "0.99", "threshold after a key");
}

// By the Tab key alone: the cluster list, a comparison, the chart's numbers, the copy button.
async function checkKeys(page) {
  const seen = new Set();
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => {
      const e = document.activeElement;
      return e.id || e.className || e.tagName;
    }));
  }
  for (const name of ["skip", "threshold", "search", "SUMMARY", "side left", "side right"])
    expect(seen.has(name), `Tab does not reach ${name}; only ${[...seen]}`);
}

async function checkSearch(page, out) {
  const clusters = lines(`${out}/clusters.tsv`);
  const [member, centre] = clusters.filter((l) => l[2] === "dropped").pop();
  await page.fill("#search", member);
  const found = await page.$$eval("#list button bdi", (all) => all.map((b) => b.textContent));
  expect(found.includes(centre), `${member} does not lead to ${centre}: ${found}`);
  await page.locator("#list button").nth(found.indexOf(centre)).focus();
  await page.keyboard.press("Enter");
  same(await page.textContent("#cluster h3"), centre, "the open cluster");
  const shown = await page.$$eval(".members tbody tr", (rows) => rows.map((r) => r.cells[1].textContent));
  const want = clusters.filter((l) => l[1] === centre && l[2] === "dropped").map((l) => l[3]).sort();
  same(shown.slice(1).sort().join(), want.join(), "similarities of the members");
  await page.fill("#search", "nothing has this id");
  same(await page.locator("#list button").count(), 0, "clusters for nonsense");
  await page.fill("#search", "");
}

// Both sides, word for word what inspect says of the two documents.
async function checkSides(page, input) {
  await page.locator("#list button").first().click();
  const tokens = new Map(execFileSync(neardup, ["inspect", "--whole", input],
    { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .split("\n").filter(Boolean).map((l) => l.split("\t")).map((l) => [l[3] === "-" ? l[0] : l[3], l[6]]));
  const sides = await page.$$eval(".side", (all) => all.map((s) => ({
    id: s.querySelector("h4").textContent,
    words: s.querySelector("p").textContent.replace(/\s+/g, " ").trim(),
    folded: s.querySelector(".gap") !== null,
    marks: Array.from(s.querySelectorAll("mark")).map((m) => m.textContent).join(" ").split(" ").filter(Boolean),
  })));
  same(sides.length, 2, "sides");
  for (const s of sides) {
    const text = tokens.get(s.id);
    expect(text !== undefined, `no document ${s.id}`);
    if (!s.folded) same(s.words, text, `words of ${s.id}`);
    const have = text.split(" ");
    expect(s.marks.every((w) => have.includes(w)), `marked words that ${s.id} has not`);
  }
  expect(sides[0].marks.length + sides[1].marks.length > 0, "nothing is marked");
  const [a, b] = sides.map((s) => tokens.get(s.id).split(" "));
  if (!sides[0].folded && !sides[1].folded)
    same(a.length - sides[0].marks.length, b.length - sides[1].marks.length, "words that are the same");
  await page.locator("select").first().selectOption("1");
  same(await page.textContent(".side.left h4"), sides[1].id, "the left side after choosing");
}

const cases = {
  "the report of the examples: numbers, slider, search, side by side": () =>
    visit("out-examples/report.html", {}, async (page) => {
      await checkNumbers(page, "out-examples");
      await checkSlider(page, "examples", 50);
      await checkSearch(page, "out-examples");
      await checkSides(page, "examples");
      await checkKeys(page);
    }),
  "a corpus of sites: search by URL, duplicates by site": () =>
    visit("out-sites/report.html", {}, async (page) => {
      await checkNumbers(page, "out-sites");
      await checkSlider(page, "sites.jsonl", 80);
      await page.fill("#search", "site1.example/page/34?v=2");
      same(await page.locator("#list button").count(), 1, "clusters with that URL");
      const bars = await page.$$eval("#by-site-t ~ .nd-bar > title", (all) => all.map((t) => t.textContent));
      const dropped = lines("out-sites/clusters.tsv").filter((l) => l[2] === "dropped");
      for (const site of [0, 1, 2]) {
        const n = dropped.filter((l) => Number(l[0].split("-")[1]) % 3 === site).length;
        expect(bars.includes(`site${site}.example, dropped: ${n}`), `no bar of ${n} for site${site} in ${bars}`);
      }
    }),
  "hostile documents run no script": async () => {
    for (const name of ["out-hostile/report.html", "bad.html"])
      await visit(name, {}, async (page) => {
        if (name !== "bad.html") {
          await page.fill("#search", "g");
          const buttons = page.locator("#list button");
          expect(await buttons.count() > 0, "no cluster");
          for (let i = 0; i < Math.min(3, await buttons.count()); i++) await buttons.nth(i).click();
        }
        same(await page.evaluate(() => window.hit), undefined, "what a script left behind");
        same(await page.locator("img").count(), 0, "images");
        same(await page.evaluate(() => document.scripts.length), name === "bad.html" ? 0 : 2, "scripts");
        expect((await page.textContent("body")).includes("<script>window.hit=1"), "the text is not shown");
      });
  },
  "light, dark and phone: accessible, nothing sticks out": async () => {
    for (const colorScheme of ["light", "dark"])
      for (const viewport of [DESK, PHONE])
        await visit("out-examples/report.html", { colorScheme, viewport }, async (page) => {
          await fits(page);
          await accessible(page, `${colorScheme} ${viewport.width}`);
        });
  },
  "nothing to report": () =>
    visit("out-empty/report.html", {}, async (page) => {
      same(await number(page, "documents"), 0, "documents");
      await accessible(page, "empty");
    }),
  "explain and study pages: accessible, on a phone too": async () => {
    for (const name of ["explain.html", "study/index.html", "sampling/index.html", "web/index.html",
      "library/index.html", "join/index.html", "prevalence/index.html"])
      for (const colorScheme of name === "explain.html" || name === "study/index.html" ? ["light", "dark"] : ["dark"])
        await visit(name, { colorScheme, viewport: PHONE }, async (page) => {
          await fits(page);
          await accessible(page, `${name} ${colorScheme}`);
          if (name === "explain.html") expect(await page.locator("mark").count() > 0, "nothing is marked");
        });
  },
  "it prints": () =>
    visit("out-examples/report.html", { colorScheme: "dark" }, async (page) => {
      const pdf = await page.pdf({ format: "A4" });
      const pages = (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
      expect(pages >= 2 && pages <= 40, `${pages} printed pages`);
      await page.emulateMedia({ media: "print" });
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      same(ground, "rgb(255, 255, 255)", "the ground of a printed page");
    }),
};

(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const names = Object.keys(cases);
  let failed = 0;
  console.log(`1..${names.length}`);
  for (const [i, name] of names.entries()) {
    try {
      await cases[name]();
      console.log(`ok ${i + 1} - ${name}`);
    } catch (e) {
      failed++;
      console.log(`not ok ${i + 1} - ${name}\n#   ${String(e.message).replace(/\n/g, "\n#   ")}`);
    }
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
})();
