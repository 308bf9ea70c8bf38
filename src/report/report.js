/* The report's script: the slider, the search, the clusters side by side.
   Texts of documents are only inserted as text nodes. */
(function () {
"use strict";
var byId = function (id) { return document.getElementById(id); };
var data = JSON.parse(byId("data").textContent);
var count = function (n) { return String(n).replace(/\B(?=(\d{3})+$)/g, ","); };

function element(name, text, type) {
  var e = document.createElement(name);
  if (text !== undefined && text !== null) e.textContent = text;
  if (type) e.className = type;
  return e;
}

/* Names keep their own writing direction. */
function named(name, text) {
  var e = element(name);
  e.appendChild(element("bdi", text));
  return e;
}

/* --- what if ---------------------------------------------------------------- */
var slider = byId("threshold");
function whatIf() {
  var t = Number(slider.value), stays = data.stays[t];
  byId("what-if-t").textContent = (t / 100).toFixed(2);
  byId("what-if-kept").textContent = count(stays);
  byId("what-if-dropped").textContent = count(data.kept + data.dropped - stays);
}
if (slider) {
  slider.addEventListener("input", whatIf);
  whatIf();
}

/* --- the command line --------------------------------------------------------- */
var copy = byId("copy");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", function () {
    navigator.clipboard.writeText(byId("command").textContent).then(function () {
      copy.textContent = "Copied";
    }, function () {
      copy.textContent = "Could not copy";
    });
  });
}

/* --- differences: Myers' greedy algorithm, with a bound ------------------------- */
function differ(a, b) {
  var head = 0, tail = 0, n, m, most = 1000, trace = [], i;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head &&
         a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  n = a.length - head - tail;
  m = b.length - head - tail;
  var sameA = new Uint8Array(a.length), sameB = new Uint8Array(b.length);
  for (i = 0; i < head; i++) sameA[i] = sameB[i] = 1;
  for (i = 1; i <= tail; i++) sameA[a.length - i] = sameB[b.length - i] = 1;
  var v = new Int32Array(2 * most + 3), mid = most + 1, d, k, x, y, done = false;
  for (d = 0; d <= most && !done; d++) {
    for (k = -d; k <= d; k += 2) {
      x = k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1]) ? v[mid + k + 1] : v[mid + k - 1] + 1;
      y = x - k;
      while (x < n && y < m && a[head + x] === b[head + y]) { x++; y++; }
      v[mid + k] = x;
      if (x >= n && y >= m) { done = true; break; }
    }
    trace.push(v.slice(mid - d - 1, mid + d + 2));
    if (done) break;
  }
  if (!done) return [sameA, sameB];
  x = n;
  y = m;
  for (d = trace.length - 1; d >= 0 && (x > 0 || y > 0); d--) {
    k = x - y;
    var old = d > 0 ? trace[d - 1] : null;
    var at = function (i) { return old[i + d]; };
    var px = 0, py = 0;
    if (d > 0) {
      var from = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
      px = at(from);
      py = px - from;
    }
    while (x > px && y > py && x > 0 && y > 0 && a[head + x - 1] === b[head + y - 1]) {
      x--;
      y--;
      sameA[head + x] = sameB[head + y] = 1;
    }
    x = px;
    y = py;
  }
  return [sameA, sameB];
}

/* --- clusters ------------------------------------------------------------------- */
var browser = byId("browser");
if (!browser) return;
browser.hidden = false;
var clusters = data.clusters, shown = [], page = 40, limit = page, current = null;

function words(cluster, member) {
  var kept = cluster.t ? cluster.t.split(" ") : [];
  if (!member.d) return kept;
  var out = [];
  for (var i = 0; i < member.d.length; i++) {
    if (typeof member.d[i] === "string") {
      out = out.concat(member.d[i].split(" "));
    } else {
      out = out.concat(kept.slice(member.d[i], member.d[i] + member.d[i + 1]));
      i++;
    }
  }
  return out;
}

/* Marks the words that differ, and folds long passages that are the same. */
function fill(box, list, same) {
  var p = element("p"), i = 0, edge = 25;
  while (i < list.length) {
    var end = i;
    while (end < list.length && same[end] === same[i]) end++;
    if (!same[i]) {
      p.appendChild(element("mark", list.slice(i, end).join(" ")));
    } else if (end - i > 3 * edge) {
      p.appendChild(document.createTextNode(list.slice(i, i + edge).join(" ")));
      p.appendChild(element("span", "\u2026 " + count(end - i - 2 * edge) + " words the same \u2026", "gap"));
      p.appendChild(document.createTextNode(list.slice(end - edge, end).join(" ")));
    } else {
      p.appendChild(document.createTextNode(list.slice(i, end).join(" ")));
    }
    p.appendChild(document.createTextNode(" "));
    i = end;
  }
  if (!list.length) p.appendChild(element("em", "no words"));
  box.appendChild(p);
}

function compare(cluster, a, b, into) {
  into.textContent = "";
  var left = words(cluster, cluster.m[a]), right = words(cluster, cluster.m[b]);
  var same = differ(left, right), sides = element("div", null, "sides");
  [[a, left, same[0], "left"], [b, right, same[1], "right"]].forEach(function (s) {
    var box = element("div", null, "side " + s[3]), title = named("h4", cluster.m[s[0]].i);
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Words of " + cluster.m[s[0]].i);
    box.appendChild(title);
    fill(box, s[1], s[2]);
    sides.appendChild(box);
  });
  var own = 0, i;
  for (i = 0; i < left.length; i++) own += !same[0][i];
  for (i = 0; i < right.length; i++) own += !same[1][i];
  into.appendChild(element("p", own ? count(own) + " words differ; they are marked." : "Every word shown is the same.", "quiet"));
  into.appendChild(sides);
  var part = cluster.from > 0 || cluster.more || cluster.words > cluster.from + cluster.t.split(" ").length;
  if (part || cluster.m[a].cut || cluster.m[b].cut)
    into.appendChild(element("p", "Only a part of these long texts is in this page, from word " +
      count(cluster.from + 1) + " on; neardup explain shows all of it.", "quiet"));
}

function chooser(cluster, label, value, change) {
  var l = element("label", label), s = element("select");
  cluster.m.forEach(function (m, i) {
    var o = element("option", (i ? "" : "kept: ") + m.i);
    o.value = i;
    s.appendChild(o);
  });
  s.value = value;
  s.addEventListener("change", change);
  l.appendChild(s);
  return [l, s];
}

function open(cluster, focus) {
  current = cluster;
  var box = byId("cluster");
  box.textContent = "";
  box.appendChild(named("h3", cluster.m[0].i));
  box.appendChild(element("p", count(cluster.n) + " documents; the first is kept, the others are dropped." +
    (cluster.n > cluster.m.length ? " The " + (cluster.m.length - 1) + " least similar ones are listed." : ""), "quiet"));
  var wide = element("div", null, "wide"), table = element("table", null, "members"), head = element("tr");
  ["document", "similarity"].forEach(function (t, i) {
    var th = element("th", t, i ? "num" : "");
    th.scope = "col";
    head.appendChild(th);
  });
  wide.tabIndex = 0;
  wide.setAttribute("role", "group");
  wide.setAttribute("aria-label", "Members");
  table.appendChild(element("thead")).appendChild(head);
  var body = table.appendChild(element("tbody")), left, right, view = element("div");
  cluster.m.forEach(function (m, i) {
    var row = element("tr"), cell = named("td", m.i);
    if (m.u && m.u !== m.i) {
      cell.appendChild(element("br"));
      var url = named("span", m.u);
      url.className = "quiet";
      cell.appendChild(url);
    }
    row.appendChild(cell);
    row.appendChild(element("td", i ? m.v : "kept", "num"));
    if (i && cluster.t !== undefined) {
      var b = element("button", "compare");
      b.type = "button";
      b.setAttribute("aria-label", "compare the kept one with " + m.i);
      b.addEventListener("click", function () {
        left.value = 0;
        right.value = i;
        compare(cluster, 0, i, view);
      });
      row.appendChild(element("td")).appendChild(b);
    } else {
      row.appendChild(element("td"));
    }
    body.appendChild(row);
  });
  var third = element("th", "look");
  third.scope = "col";
  head.appendChild(third);
  wide.appendChild(table);
  box.appendChild(wide);
  if (cluster.t !== undefined && cluster.m.length > 1) {
    var choose = element("div", null, "choose"), l, r;
    var again = function () { compare(cluster, Number(left.value), Number(right.value), view); };
    l = chooser(cluster, "Left", 0, again);
    r = chooser(cluster, "Right", 1, again);
    left = l[1];
    right = r[1];
    choose.appendChild(l[0]);
    choose.appendChild(r[0]);
    box.appendChild(element("h3", "Side by side"));
    box.appendChild(choose);
    box.appendChild(view);
    again();
  } else {
    box.appendChild(element("p", "The texts of this cluster are not in this page:"));
    var pre = element("pre");
    pre.tabIndex = 0;
    pre.appendChild(element("code", "neardup explain " + quote(cluster.m[0].i) + " " +
      quote(cluster.m[cluster.m.length - 1].i) + " INPUT"));
    box.appendChild(pre);
  }
  mark();
  if (focus) box.focus();
}

function quote(s) {
  return /^[\w.\/:@%+=,-]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
}

function mark() {
  Array.prototype.forEach.call(byId("list").querySelectorAll("button"), function (b) {
    b.setAttribute("aria-current", b.cluster === current ? "true" : "false");
  });
}

function list() {
  var ul = byId("list");
  ul.textContent = "";
  shown.slice(0, limit).forEach(function (c) {
    var li = element("li"), b = named("button", c.m[0].i), note = count(c.n) + " documents";
    if (c.m.length > 1) note += ", down to " + c.m[1].v;
    if (c.t === undefined) note = count(c.n) + " documents, names only";
    b.type = "button";
    b.cluster = c;
    b.appendChild(element("small", note));
    b.addEventListener("click", function () { open(c, true); });
    li.appendChild(b);
    ul.appendChild(li);
  });
  byId("more").hidden = shown.length <= limit;
  mark();
}

function search() {
  var q = byId("search").value.trim().toLowerCase();
  limit = page;
  shown = clusters.filter(function (c) {
    return !q || c.m.some(function (m) {
      return m.i.toLowerCase().indexOf(q) >= 0 || (m.u && m.u.toLowerCase().indexOf(q) >= 0);
    });
  });
  byId("found").textContent = !q ? count(shown.length) + " clusters"
    : shown.length ? count(shown.length) + (shown.length === 1 ? " cluster has it" : " clusters have it")
    : "None of the clusters in this page has it. In all of them: grep it in clusters.tsv, then neardup explain.";
  list();
}

byId("search").addEventListener("input", search);
byId("more").addEventListener("click", function () {
  limit += 200;
  list();
});
search();
if (clusters.length) open(clusters[0], false);
}());
