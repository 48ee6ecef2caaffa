// The explorer's page. All text is put into the page as text; nothing that is fetched is ever read as HTML or script.
// The address after # holds the state of the room: a link reopens it.

const main = document.getElementById("main");
const status = document.getElementById("status");
const KEPT = "recombine-scores";
let benchmarks = [];
const about = new Map();

// --- small helpers

function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function state() {
  const [room, query = ""] = location.hash.slice(1).split(/\?(.*)/s); // a question that somebody typed there ends in one
  return { room: room || "play", ...Object.fromEntries(new URLSearchParams(query)) };
}

function address(next) {
  const { room, ...rest } = next;
  const given = Object.entries(rest).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const query = new URLSearchParams(given).toString();
  return `#${room}${query ? `?${query}` : ""}`;
}

function go(change, quietly = false) {
  const next = address({ ...state(), ...change });
  if (quietly) history.replaceState(null, "", next);
  else if (next !== location.hash) location.hash = next;
  else draw();
}

class Said extends Error {
  constructor(answer) { super(answer.error || "there is no answer"); this.answer = answer; }
}

async function ask(path, given, body) {
  const query = given ? `?${new URLSearchParams(given)}` : "";
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const slow = setTimeout(() => watch(), 600);
  try {
    const answer = await fetch(path + query, options).catch(() => {
      throw new Said({ error: "The server does not answer; is `recombine explore` still running?" });
    });
    const found = await answer.json();
    if (!answer.ok || (found && found.error)) throw new Said(found);
    return found;
  } finally {
    clearTimeout(slow);
    watching = false;
    status.textContent = "";
  }
}

let watching = false;
async function watch() {
  watching = true;
  while (watching) {
    const found = await fetch("/api/progress").then((answer) => answer.json()).catch(() => null);
    if (!watching) return;
    status.textContent = found ? `Making ${found.stage}: ${found.done} of ${found.total}` : "Working …";
    await new Promise((done) => setTimeout(done, 400));
  }
}

async function known(name) {
  if (!about.has(name)) about.set(name, await ask(`/api/${name}/about`));
  return about.get(name);
}

const named = (name) => benchmarks.find((one) => one.name === name);
const percent = (share) => `${(100 * share).toFixed(0)} %`;
const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

// Names of runs without the words that they share, so that what tells them apart can be read in a narrow place.
function shortly(names) {
  const runs = names.map((name) => name.split("-")).filter((words) => words.length > 3);
  const shared = (word) => runs.length > 1 && runs.every((words) => words.includes(word));
  return new Map(names.map((name) => {
    const left = name.split("-").filter((word) => !shared(word)).join("-");
    return [name, /^\d+$/.test(left) ? `seed ${left}` : left || name];
  }));
}

function belief(who, short, chance, bad, title) {
  return el("div", { class: `belief ${who} ${short.length > 11 ? "long" : ""}`, title },
    el("span", { class: "who", title: who }, short), el("meter", { min: 0, max: 1, value: chance, "aria-label": `${who}: probability of the right answer` }),
    el("span", { class: `p ${bad ? "bad" : ""}` }, chance.toFixed(2)));
}

function choose(label, options, value, change) {
  const select = el("select", { onchange: (event) => change(event.target.value) });
  for (const [key, text] of options) {
    const one = el("option", { value: key }, text);
    one.selected = key === value;
    select.append(one);
  }
  return el("label", {}, label, select);
}

function benchmarkChoice(value, change, only = () => true) {
  return choose("Benchmark", benchmarks.filter(only).map((one) => [one.name, one.title]), value, change);
}

function picture(name, shot, extra = {}, size = "picture") {
  const own = shot.picture.startsWith("data:image/png;base64,");
  if (!own && shot.number === null) return el("div", { class: "words" }, shot.words);
  const grid = own || named(name).pixelated;
  const [width, height] = (about.get(name) || {}).pixels || [0, 0];
  return el("img", {
    width: width || null, height: height || null,
    src: own ? shot.picture : `/${size}/${name}/${shot.number}.png`, alt: shot.words || `Scene ${shot.number}`,
    title: shot.words || `Scene ${shot.number}`, class: grid ? "grid" : undefined, loading: "lazy", ...extra,
  });
}

const player = (name, number) => el("audio", {
  controls: true, preload: "none", src: `/sound/${name}/${number}.wav`, "aria-label": `Sound of scene ${number}`,
});

// A small player: one sound at a time, told apart by its button alone.
let playing = null;
function button(name, number, label) {
  const made = el("button", { type: "button", class: "sound", "aria-label": `Play sound ${label}` }, `▶ ${label}`);
  const end = () => { if (playing) playing.sound.pause(); playing = null; made.classList.remove("on"); made.firstChild.data = `▶ ${label}`; };
  made.addEventListener("click", () => {
    const mine = playing && playing.made === made;
    if (playing) playing.end();
    if (mine) return;
    const sound = new Audio(`/sound/${name}/${number}.wav`);
    playing = { made, sound, end };
    made.classList.add("on");
    made.firstChild.data = `■ ${label}`;
    sound.addEventListener("ended", end);
    sound.play().catch((error) => { if (error.name !== "AbortError") { end(); status.textContent = "This browser cannot play the sound."; } });
  });
  return made;
}

const listening = (all) => el("details", { class: "listening" }, el("summary", {}, "How to listen"),
  el("dl", { class: "forms" }, ...all.heard.flatMap(([what, how]) => [el("dt", {}, what), el("dd", {}, how)])));

// Text with its `code` as code.
function worded(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

// A long name in a cell may end its line after each of its words.
function broken(cell) {
  const text = String(cell ?? "");
  return text.length > 18 ? el("span", {}, ...text.split(/(?<=_)/).flatMap((part) => [part, el("wbr")])) : text;
}

function table(found, about) {
  const splits = new Set(about ? about.splits.map((one) => one.name) : []);
  const room = (i) => { // so that no word of a long text stands in a line of its own
    const longest = Math.max(0, ...found.rows.map((row) => String(row[i] ?? "").length));
    return longest > 160 ? "essay" : longest > 56 ? "lines" : longest > 12 ? "words" : undefined;
  };
  const head = el("tr", {}, ...found.columns.map((one, i) =>
    el("th", { scope: "col", class: one.align === "right" ? "num" : room(i) }, one.name)));
  const rows = found.rows.map((row) => el("tr", {}, ...row.map((cell, i) =>
    el("td", { class: found.columns[i].align === "right" ? "num" : undefined },
      i === 0 && splits.has(cell) ? el("a", { href: address({ room: "play", benchmark: about.name, split: cell }), title: "Play it" }, cell) : broken(cell)))));
  return el("figure", { class: "card" },
    found.title ? el("figcaption", {}, found.title) : null,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": found.title || "Table" },
      el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))),
    found.note ? el("p", { class: "note" }, ...worded(found.note)) : null);
}

function download(name, content) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([content], { type: "text/plain" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fail = (error) => el("p", { class: "error", role: "alert" }, ...worded(error.message));

// --- Play

let began = 0;

async function play(now) {
  const name = named(now.benchmark) ? now.benchmark : benchmarks[0].name;
  const all = await known(name);
  const split = all.splits.some((one) => one.name === now.split) ? now.split
    : (all.splits.find((one) => one.name === named(name).example) || all.splits[0]).name;
  const number = Number.parseInt(now.number || "0", 10) || 0;
  const round = await ask(`/api/${name}/round`, { split, number });
  const see = round.seen.includes(now.see) ? now.see : round.seen[0];
  began = performance.now();
  const bar = el("div", { class: "bar" },
    benchmarkChoice(name, (value) => go({ room: "play", benchmark: value, split: "", number: 0 })),
    choose("Split", all.splits.map((one) => [one.name, one.title]), split, (value) => go({ benchmark: name, split: value, number: 0 })),
    el("label", {}, "Number", el("input", {
      type: "number", min: 0, max: round.rounds - 1, value: number,
      onchange: (event) => go({ benchmark: name, split, number: event.target.value }),
    })),
    round.seen.length > 1 ? choose("As", round.seen.map((one) => [one, one]), see, (value) => go({ benchmark: name, split, see: value })) : null,
    el("button", { type: "button", disabled: number <= 0, onclick: () => go({ benchmark: name, split, number: number - 1 }) }, "← Previous"),
    el("button", { type: "button", disabled: number >= round.rounds - 1, onclick: () => go({ benchmark: name, split, number: number + 1 }) }, "Next →"),
  );
  const where = all.splits.find((one) => one.name === split);
  const found = groups(round.shown);
  const shown = el("div", { class: found.length > 2 ? "classes" : undefined }, ...found.map(([answer, items]) => el("section", {},
    el("h3", {}, answer === "yes" ? "The concept holds here" : answer === "no" ? "It does not hold here" : answer),
    el("ul", { class: "shots small-ones" }, ...items.map((item, i) =>
      el("li", { class: `shot ${answer === "yes" ? "yes" : answer === "no" ? "no" : ""}` },
        see === "sounds" ? button(name, item.shot.number, `${answer} ${i + 1}`) : picture(name, item.shot)))))));
  const questions = round.asked.some((item) => item.text);
  const together = questions && new Set(round.asked.map((item) => item.shot.number)).size === 1 && round.asked[0].shot.number !== null;
  const cards = round.asked.map((item, i) => card(name, item, i, see, together));
  const after = el("div", { id: "after", "aria-live": "polite" });
  const answer = el("button", { type: "submit", class: "main" }, "Show the answers");
  const form = el("form", { onsubmit: (event) => { event.preventDefault(); reveal(name, split, number, see, round, cards, after, answer); } },
    together
      ? el("div", { class: "two asked" }, el("div", { class: "stage held" }, picture(name, round.asked[0].shot, { loading: "eager" }, "large")), el("ol", { class: "shots questions" }, ...cards))
      : el("ul", { class: questions ? "shots wide" : "shots" }, ...cards),
    answer,
    el("p", { class: "small keys" }, el("kbd", {}, "Tab"), " goes on, ", el("kbd", {}, "1"), " to ", el("kbd", {}, "9"), " choose, ", el("kbd", {}, "Enter"), " shows the answers."));
  form.addEventListener("keydown", keys);
  return [
    el("h1", {}, round.title), el("p", { class: "intro" }, `${round.about} (${where.title}: ${where.about}.)`), bar,
    see === "sounds" ? listening(all) : "",
    ...(round.shown.length ? [el("h2", {}, "What you are shown"), shown] : []),
    el("h2", {}, `Your turn: ${round.asked.length} to answer`), form, after, scores(),
  ];
}

function groups(items) {
  const found = new Map();
  for (const item of items) found.set(item.answer, [...(found.get(item.answer) || []), item]);
  return [...found];
}

function card(name, item, i, see, together) {
  const label = item.text || `${i + 1}`;
  const choices = item.choices.length > 12
    ? [el("select", { name: `asked-${i}`, "aria-label": label }, el("option", { value: "" }, "choose …"), ...item.choices.map((choice) => el("option", { value: choice }, choice)))]
    : item.choices.map((choice, n) => el("label", {},
      el("input", { type: "radio", name: `asked-${i}`, value: choice, "data-key": n + 1 }), choice));
  return el("li", { class: "shot", "data-place": i },
    see === "sounds" ? button(name, item.shot.number, `${i + 1}`) : together ? null : picture(name, item.shot, {}, item.text ? "large" : "picture"),
    el("fieldset", {}, el("legend", {}, label), ...choices), el("div", { class: "said" }));
}

const control = (place) => place.querySelector("fieldset input, fieldset select");
const given = (place) => (place.querySelector("input:checked") || place.querySelector("select") || {}).value || null;

function keys(event) {
  if (!/^[1-9]$/.test(event.key) || event.target.tagName === "TEXTAREA") return;
  const place = event.target.closest("li.shot");
  const option = place && place.querySelector(`input[data-key="${event.key}"]`);
  if (!option || option.disabled) return;
  option.checked = true;
  event.preventDefault();
  const next = place.nextElementSibling;
  if (next) control(next).focus();
  else event.currentTarget.querySelector("button.main").focus();
}

async function reveal(name, split, number, see, round, cards, after, button) {
  button.disabled = true;
  const seconds = Math.round(performance.now() - began) / 1000;
  let found;
  try {
    found = await ask(`/api/${name}/solution`, { split, number });
  } catch (error) {
    button.disabled = false;
    after.replaceChildren(fail(error));
    return;
  }
  const said = cards.map(given);
  const who = Object.keys(found.said);
  const short = shortly(who);
  const right = new Map(who.map((one) => [one, 0]));
  let mine = 0;
  cards.forEach((one, i) => {
    const truth = found.answers[i];
    const ok = said[i] === truth;
    mine += ok;
    one.classList.add(ok ? "right" : said[i] === null ? "open" : "wrong");
    one.querySelectorAll("input, select").forEach((input) => { input.disabled = true; });
    const place = one.querySelector(".said");
    place.append(el("div", { class: `truth ${ok ? "ok" : said[i] === null ? "" : "bad"}` }, `${ok ? "✓" : said[i] === null ? "○" : "✗"} ${truth}`), el("div", { class: "beliefs" }));
    for (const learner of who) right.set(learner, right.get(learner) + told(place, learner, short.get(learner), found.said[learner][i], truth));
    if (see === "sounds") one.prepend(picture(name, round.asked[i].shot, { loading: "eager" }));
    if (found.why[i]) place.append(el("details", {}, el("summary", {}, "Why"), el("pre", { class: "why" }, found.why[i])));
  });
  keep({ time: new Date().toISOString(), benchmark: name, split, number, seen: see, said, answers: found.answers, right: mine, of: said.length, seconds });
  const left = said.filter((one) => one === null).length;
  const score = (one, sum) => [one, `${sum.toFixed(1).replace(".0", "")} of ${said.length}`, percent(sum / said.length)];
  const rows = [score("you", mine), ...who.map((one) => score(one, right.get(one)))];
  const present = ([one]) => who.includes(one) || one === about.get(name).thinker;
  const whom = Object.entries(about.get(name).whom).filter(present).map(([one, knows]) => `${sentence(one)} ${knows}.`).join(" ");
  const parts = [el("h2", { tabindex: "-1" }, found.concept ? `It was: ${found.concept}` : "How it went")];
  if (found.spelling) parts.push(el("p", {}, el("code", {}, found.spelling), " ",
    el("a", { href: address({ room: "write", benchmark: name, text: found.concept }) }, "Write with it")));
  parts.push(table({ title: "Right answers", columns: [{ name: "who" }, { name: "right", align: "right" }, { name: "share", align: "right" }], rows, note: `${left ? `You left ${left} open. ` : ""}${whom} Where a learner holds several answers equally likely, it shares its vote.` }));
  if (number + 1 < round.rounds) parts.push(el("p", {}, el("a", { class: "next", href: address({ ...state(), room: "play", benchmark: name, split, number: number + 1 }) }, "Next round →")));
  if (found.hypotheses.length) {
    parts.push(el("h2", {}, `What fits what you were shown, ${found.hypotheses.length} of ${found.total.toLocaleString("en")}`));
    parts.push(el("ol", { class: "hypotheses" }, ...found.hypotheses.map((one) => el("li", { class: one.true ? "true" : undefined },
      el("div", {}, el("meter", { min: 0, max: 1, value: one.chance, "aria-label": "posterior" }), ` ${percent(one.chance)}`),
      el("div", {}, one.words, " ", one.true ? el("span", { class: "tag true" }, "the hidden concept") : null,
        el("span", { class: "tag" }, one.known ? "weak knows it" : "new to weak"),
        one.spellings > 1 ? el("span", { class: "tag" }, `${one.spellings} spellings`) : null, el("br"), el("code", {}, one.text))))));
  }
  after.replaceChildren(...parts);
  after.querySelector("h2").focus({ preventScroll: false });
  document.getElementById("scores").replaceWith(scores());
  const thinker = about.get(name).thinker;
  if (thinker) think(name, split, number, thinker, found.answers, cards, after, score);
}

// What a learner says of an item, put into its card; its share of a right answer.
function told(place, learner, short, chances, truth) {
  const chance = chances[truth] || 0;
  const best = Math.max(...Object.values(chances), 0);
  const votes = Object.values(chances).filter((value) => value === best).length;
  place.querySelector(".beliefs").append(belief(learner, short, chance, chance < best,
    Object.entries(chances).map(([answer, value]) => `${answer} ${percent(value)}`).join(", ")));
  return chance === best && best > 0 ? 1 / votes : 0;
}

// The learner that weighs the whole language comes after the others: the first time it has to write all of it down.
async function think(name, split, number, thinker, answers, cards, after, score) {
  const row = el("tr", { class: "thinks" }, el("td", {}, thinker), el("td", { colspan: 2 }, "weighs every concept that can be said …"));
  after.querySelector("tbody").append(row);
  try {
    const said = await ask(`/api/${name}/thought`, { split, number });
    const right = cards.reduce((sum, one, i) => sum + told(one.querySelector(".said"), thinker, thinker, said[i], answers[i]), 0);
    row.replaceChildren(...score(thinker, right).map((cell, i) => el("td", { class: i ? "num" : undefined }, cell)));
  } catch (error) {
    row.lastChild.replaceChildren(error.message);
  }
}

const kept = () => { try { return JSON.parse(localStorage.getItem(KEPT)) || []; } catch { return []; } };
function keep(row) {
  try { localStorage.setItem(KEPT, JSON.stringify([...kept(), row].slice(-2000))); } catch { status.textContent = "The browser keeps no scores."; }
}

function scores() {
  const rows = kept();
  const right = rows.reduce((sum, row) => sum + row.right, 0);
  const of = rows.reduce((sum, row) => sum + row.of, 0);
  return el("section", { id: "scores", class: "card", "aria-label": "Your scores" },
    el("h2", {}, "Your scores"),
    el("p", {}, rows.length ? `${many(rows.length, "round")}, ${right} of ${of} right. They are kept in this browser alone.` : "Nothing yet. They are kept in this browser alone."),
    el("div", { class: "chips" },
      el("button", { type: "button", disabled: !rows.length, onclick: () => download("scores.jsonl", rows.map((row) => JSON.stringify(row)).join("\n") + "\n") }, "Save as JSONL"),
      el("button", { type: "button", disabled: !rows.length, onclick: () => { localStorage.removeItem(KEPT); document.getElementById("scores").replaceWith(scores()); } }, "Forget them")));
}

// --- Write

let asked = 0;

async function write(now) {
  const able = (one) => Object.keys(one.languages).length > 0;
  const name = named(now.benchmark) && able(named(now.benchmark)) ? now.benchmark : benchmarks.find(able).name;
  const examples = Object.entries(named(name).languages);
  const text = now.text !== undefined ? now.text : examples[0][1];
  const found = el("div", { id: "found", "aria-live": "polite" });
  const area = el("textarea", { id: "text", spellcheck: "false", "aria-describedby": "found" });
  area.value = text;
  let timer = 0;
  const read = async (first = 0) => {
    const mine = ++asked;
    const text = area.value;
    area.rows = Math.max(2, text.split("\n").length);
    go({ room: "write", benchmark: name, text, first: first || "" }, true);
    if (!text.trim()) { found.replaceChildren(); return; }
    const start = performance.now();
    try {
      const answer = await ask(`/api/${name}/read`, undefined, { text, first });
      if (mine === asked) found.replaceChildren(...understood(name, answer, first, read, performance.now() - start));
    } catch (error) {
      if (mine === asked) found.replaceChildren(misread(text, error, (better) => { area.value = better; read(); area.focus(); }));
    }
  };
  area.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(read, 150); });
  read(Number.parseInt(now.first || "0", 10) || 0);
  return [
    el("h1", {}, "Write a concept or a question"),
    el("p", { class: "intro" }, "The scenes that satisfy it appear as you type; an error points at the word."),
    el("div", { class: "bar" }, benchmarkChoice(name, (value) => go({ room: "write", benchmark: value, text: undefined, first: "" }), able)),
    el("div", { class: "field" }, el("label", { for: "text" }, "Your text"), area),
    el("div", { class: "chips", "aria-label": "Examples" }, ...examples.map(([label, example]) =>
      el("button", { type: "button", title: example, onclick: () => { area.value = example; read(); } }, label))),
    found,
  ];
}

function misread(text, error, change) {
  const at = error.answer && error.answer.at;
  const shown = el("pre", {});
  if (Number.isInteger(at)) {
    const word = (text.slice(at).match(/^\s*(\S[\w?=.-]*)?/) || [""])[0] || " ";
    shown.append(text.slice(0, at), el("mark", {}, word.trim() ? word : "⟨here⟩"), text.slice(at + word.length));
  }
  const better = Number.isInteger(at) && (error.message.match(/did you mean '([^']+)'/) || [])[1];
  return el("div", { class: "error", role: "alert" }, Number.isInteger(at) ? shown : null, el("p", {}, error.message),
    better && change ? el("div", { class: "chips" }, el("button", { type: "button", onclick: () => change(shown.firstChild.data + shown.querySelector("mark").textContent.replace(/\S+/, better) + text.slice(at + shown.querySelector("mark").textContent.length)) }, `Write “${better}”`)) : null);
}

// What a group of scenes has in common, in words: a concept holds, or this is the answer.
function heading(found, group) {
  if (group.label === "drawn") return `${many(group.shots.length, "image")} of ${group.count.toLocaleString("en")}`;
  if (/hold|no answer/.test(group.label)) return `${sentence(group.label)}: ${many(group.count, "scene")}`;
  return `The answer is ${group.label}: ${many(group.count, "scene")}`;
}

function understood(name, found, first, read, took) {
  const forms = el("dl", { class: "forms" }, ...found.forms.flatMap(([label, text]) => [el("dt", {}, label), el("dd", {}, el("pre", {}, text))]));
  const shots = found.groups.map((group) => el("section", { "data-group": group.label },
    el("h2", {}, heading(found, group)),
    el("ul", { class: "shots" }, ...group.shots.map((shot) => el("li", { class: "shot" }, opened(name, shot))))));
  const most = Math.max(...found.groups.map((group) => group.count), 0);
  const page = Math.max(...found.groups.map((group) => group.shots.length), 1);
  return [
    el("div", { class: "card" }, forms, el("p", {}, found.notes.join(" ")),
      found.same ? el("details", {}, el("summary", {}, `${found.same.toLocaleString("en")} known concepts mean the same`),
        el("ul", {}, ...found.synonyms.map((one) => el("li", {}, one)))) : null,
      el("div", { class: "chips" }, ...found.files.map(([file, content]) =>
        el("button", { type: "button", onclick: () => download(file, content) }, `Save ${file}`))),
      ...found.commands.map((command) => el("p", { class: "small" }, el("code", {}, command))),
      el("p", { class: "small" }, `Read and answered in ${took.toFixed(0)} ms.`)),
    ...shots,
    most > page ? el("div", { class: "bar" },
      el("button", { type: "button", disabled: first === 0, onclick: () => read(Math.max(0, first - page)) }, "← Previous"),
      el("button", { type: "button", disabled: first + page >= most, onclick: () => read(first + page) }, "Next →")) : "",
  ];
}

function opened(name, shot, size) {
  if (shot.number === null) return picture(name, shot);
  return el("a", { href: address({ room: "browse", benchmark: name, view: "scenes", scene: shot.number }), "aria-label": `Scene ${shot.number}${shot.words ? `: ${shot.words}` : ""}` }, picture(name, shot, {}, size));
}

// --- Browse

async function browse(now) {
  const name = named(now.benchmark) ? now.benchmark : benchmarks[0].name;
  const all = await known(name);
  const views = [["scenes", "Scenes"], ["splits", "Splits and families"], ...(all.layouts ? [["factors", "Factors"]] : [])];
  const view = views.some(([one]) => one === now.view) ? now.view : "scenes";
  const tabs = el("nav", { class: "tabs", "aria-label": "Views" }, ...views.map(([one, label]) =>
    el("a", { href: address({ room: "browse", benchmark: name, view: one }), "aria-current": one === view ? "page" : undefined }, label)));
  const parts = [
    el("h1", {}, named(name).title), el("p", { class: "intro" }, `${sentence(named(name).about)}. ${named(name).paper}.`),
    el("div", { class: "bar" }, benchmarkChoice(name, (value) => go({ room: "browse", benchmark: value, view, scene: "", text: "", first: "", layout: "" }))), tabs,
  ];
  if (view === "splits") return [...parts, ...(await ask(`/api/${name}/tables`)).map((one) => table(one, all))];
  if (view === "factors") return [...parts, ...(await factors(name, all, now))];
  if (now.scene !== undefined) return [...parts, ...(await scene(name, now.scene))];
  return [...parts, ...(await scenes(name, all, now))];
}

async function factors(name, all, now) {
  const layout = Math.min(Number.parseInt(now.layout || "0", 10) || 0, all.layouts - 1);
  const found = await ask(`/api/${name}/factors`, { layout });
  const level = (one, i) => opened(name, { number: one.levels[i][1], words: `${one.name}: ${one.levels[i][0]}`, picture: "" }, "large");
  return [
    el("div", { class: "bar" },
      el("button", { type: "button", disabled: layout <= 0, onclick: () => go({ layout: layout - 1 }) }, "← Previous"),
      el("strong", {}, `Layout ${layout + 1} of ${all.layouts}`),
      el("button", { type: "button", disabled: layout >= all.layouts - 1, onclick: () => go({ layout: layout + 1 }) }, "Next →")),
    ...found.map((one) => el("section", { class: "card" }, el("h2", {}, sentence(one.name)), el("p", { class: "intro" }, one.about),
      one.said.length
        ? el("div", { class: "shots three" }, el("div", { class: "shot" }, level(one, 0)),
          el("dl", { class: "said-so" }, ...one.said.flatMap((text, i) => [el("dt", {}, one.levels[i][0]), el("dd", {}, text)])))
        : el("ul", { class: "shots three" }, ...one.levels.map(([called], i) => el("li", { class: "shot" }, level(one, i), el("strong", {}, called)))))),
  ];
}

async function scenes(name, all, now) {
  const first = Number.parseInt(now.first || "0", 10) || 0;
  const filter = el("input", { id: "filter", type: "search", value: now.text || "", placeholder: (Object.values(named(name).languages)[0] || "").split("\n")[0] });
  const form = Object.keys(named(name).languages).length ? el("form", {
    class: "bar", onsubmit: (event) => { event.preventDefault(); go({ room: "browse", benchmark: name, text: filter.value, first: "", group: "" }); },
  }, el("label", { for: "filter" }, named(name).asks ? "By the answer to this question" : "Only where this concept holds", filter), el("button", { type: "submit" }, "Filter")) : "";
  if (!all.scenes) return [el("p", {}, "The scenes of this benchmark are not drawn.")];
  let shots; let total; let chips = ""; let notes = "";
  if (now.text) {
    try {
      const found = await ask(`/api/${name}/filtered`, undefined, { text: now.text, first });
      notes = found.notes.length ? el("p", { class: "small" }, found.notes.join(" ")) : "";
      const group = found.groups.find((one) => one.label === now.group) || found.groups[0];
      ({ shots, count: total } = group);
      chips = el("div", { class: "chips" }, ...found.groups.map((one) => el("button", { type: "button", "aria-pressed": one === group, onclick: () => go({ group: one.label, first: "" }) }, `${one.label}: ${one.count.toLocaleString("en")}`)));
    } catch (error) { return [form, misread(now.text, error)]; }
  } else {
    ({ shots, total } = await ask(`/api/${name}/scenes`, { first }));
  }
  const page = 24;
  return [form, chips, notes,
    el("p", { class: "small" }, total ? `${(first + 1).toLocaleString("en")} to ${Math.min(first + page, total).toLocaleString("en")} of ${total.toLocaleString("en")}` : "None."),
    el("ul", { class: "shots" }, ...shots.map((shot) => el("li", { class: "shot" }, opened(name, shot)))),
    el("div", { class: "bar" },
      el("button", { type: "button", disabled: first === 0, onclick: () => go({ first: Math.max(0, first - page) }) }, "← Previous"),
      el("button", { type: "button", disabled: first + page >= total, onclick: () => go({ first: first + page }) }, "Next →"))];
}

async function scene(name, number) {
  const found = await ask(`/api/${name}/scene`, { number });
  const [width, height] = found.size;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Outlines of the objects");
  const paths = []; const items = [];
  const light = (i, on) => [paths[i], items[i]].forEach((one) => one.classList.toggle("lit", on));
  found.parts.forEach((part, i) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", part.outline);
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = part.name;
    path.append(title);
    const item = el("li", { tabindex: "0", class: part.of === null ? undefined : "part" }, part.of === null ? `${i}  ${part.name}` : part.name,
      found.plays[i] ? el("span", { class: "small" }, ` – ${found.plays[i]}`) : null);
    for (const one of [path, item]) {
      one.addEventListener("pointerenter", () => light(i, true));
      one.addEventListener("pointerleave", () => light(i, false));
    }
    item.addEventListener("focus", () => light(i, true));
    item.addEventListener("blur", () => light(i, false));
    svg.append(path);
    paths.push(path);
    items.push(item);
  });
  const whole = items.filter((_, i) => found.parts[i].of === null);
  const list = el("ul", { class: "objects" }, ...whole.flatMap((item, i) => [item, ...items.filter((_, j) => found.parts[j].of === i)]));
  const shown = picture(name, { number: found.number, words: found.words.join("; "), picture: "" }, { loading: "eager" }, "large");
  const last = about.get(name).scenes - 1;
  return [
    el("h2", {}, `Scene ${found.number}`),
    el("div", { class: "bar" },
      el("a", { href: address({ room: "browse", benchmark: name, view: "scenes", first: Math.floor(found.number / 24) * 24 }) }, "All scenes"),
      el("button", { type: "button", disabled: found.number <= 0, onclick: () => go({ scene: found.number - 1 }) }, "← Previous"),
      el("button", { type: "button", disabled: found.number >= last, onclick: () => go({ scene: found.number + 1 }) }, "Next →")),
    el("div", { class: "two" }, el("div", {}, el("div", { class: "stage" }, shown, svg),
      ...(named(name).seen.includes("sounds") ? [player(name, found.number), listening(about.get(name))] : [])), el("div", {}, el("p", { class: "small" }, "Point at a thing, here or in the picture."), list)),
    el("details", {}, el("summary", {}, "As JSON"), el("pre", { class: "json", tabindex: "0" }, JSON.stringify(found.data, null, 1)),
      el("button", { type: "button", onclick: () => download(`${name}-scene-${found.number}.json`, JSON.stringify(found.data, null, 1)) }, "Save it")),
  ];
}

// --- Compare

async function compare(now) {
  const name = named(now.benchmark) ? now.benchmark : benchmarks[0].name;
  const all = await known(name);
  const split = all.splits.some((one) => one.name === now.split) ? now.split : (all.splits.find((one) => one.name === named(name).example) || all.splits[0]).name;
  const one = all.solvers.includes(now.one) ? now.one : all.solvers[0];
  const other = all.solvers.includes(now.other) ? now.other : all.solvers[1];
  const runs = await ask("/api/runs");
  const items = el("div", { "aria-live": "polite" });
  const parts = [
    el("h1", {}, "Compare"),
    el("p", { class: "intro" }, "Who gets what right: ideal learners, baselines, and the networks of your runs."),
    el("div", { class: "bar" },
      benchmarkChoice(name, (value) => go({ room: "compare", benchmark: value, split: "", one: "", other: "" })),
      choose("Split", all.splits.map((one) => [one.name, one.title]), split, (value) => go({ split: value })),
      choose("This one", all.solvers.map((who) => [who, who]), one, (value) => go({ one: value })),
      choose("and this one", all.solvers.map((who) => [who, who]), other, (value) => go({ other: value }))),
    el("h2", {}, "Where one is right and the other wrong"), items,
  ];
  items.append(el("p", { class: "small" }, "Asking both …"));
  ask(`/api/${name}/differences`, { split, one, other }).then((found) => items.replaceChildren(...differing(name, split, one, other, found)),
    (error) => items.replaceChildren(fail(error)));
  parts.push(el("h2", {}, "Runs"));
  runs.sort((a, b) => (b.benchmark === name) - (a.benchmark === name));
  if (!runs.length) parts.push(el("p", {}, "No finished runs were given. Train some, then start with: ", el("code", {}, "recombine explore --runs runs")));
  for (const each of runs) {
    const inside = [];
    for (const curve of each.curves) inside.push(el("figure", { class: "plot" }, el("picture", {}, el("source", { media: "(max-width:44rem)", srcset: `/figure/${curve.name}-narrow.svg` }), el("img", { src: `/figure/${curve.name}.svg`, alt: curve.caption })), el("figcaption", {}, curve.caption)));
    inside.push(...each.tables.map((one) => table(one)));
    if (each.unfinished.length) inside.push(el("p", { class: "note" }, `Not at their end: ${each.unfinished.join(", ")}`));
    if (each.benchmark === name) parts.push(el("h3", {}, each.title), ...inside);
    else parts.push(el("details", {}, el("summary", {}, `Runs of ${each.title}`), ...inside));
  }
  return parts;
}

function differing(name, split, one, other, found) {
  const short = shortly([one, other]);
  const { items, of } = found;
  if (!items.length) return [el("p", {}, one === other ? "Choose two different ones." : `They are right and wrong about the same of ${many(of, "item")}.`)];
  const wide = items.some((item) => item.text);
  const alone = (who, count) => [el("strong", {}, short.get(who)), ` alone is right about ${count.toLocaleString("en")}`];
  const list = (some) => el("ul", { class: wide ? "shots wide" : "shots" }, ...some.map((item) => el("li", { class: "shot" }, opened(name, item.shot, item.text ? "large" : "picture"),
    item.text ? el("p", {}, item.text) : null, el("p", { class: "truth" }, `Right: ${item.answer}`),
    el("div", { class: "beliefs" }, ...[[one, item.one], [other, item.other]].map(([who, said]) => belief(who, short.get(who), said.chance, !said.right, `says ${said.answer || "nothing certain"}`))),
    ...[[one, item.one], [other, item.other]].filter(([, said]) => !said.right).map(([who, said]) =>
      el("p", { class: "truth bad" }, said.answer ? `${short.get(who)}: ${said.answer}` : `${short.get(who)} is undecided`)),
    el("a", { href: address({ room: "play", benchmark: name, split, number: item.number }) }, "Play this round"))));
  const first = wide ? 8 : 14;
  const apart = found.one + found.other;
  return [el("p", {}, ...alone(one, found.one), ", ", ...alone(other, found.other), ` of ${many(of, "item")}.`),
    el("p", { class: "small" }, `${items.length < apart ? `The ${items.length}` : "Those"} where they are widest apart come first; the bars are the probability of the right answer.`),
    list(items.slice(0, first)),
    items.length > first ? el("details", {}, el("summary", {}, `${items.length - first} more`), list(items.slice(first))) : ""];
}

// --- the page

const rooms = { play, write, browse, compare };
let drawing = 0;

async function draw() {
  const now = state();
  const room = rooms[now.room] ? now.room : "play";
  const mine = ++drawing;
  for (const link of document.querySelectorAll("[data-room]")) {
    if (link.dataset.room === room) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${room[0].toUpperCase()}${room.slice(1)} · Recombine explorer`;
  main.setAttribute("aria-busy", "true");
  let parts;
  try {
    if (!benchmarks.length) benchmarks = (await ask("/api/benchmarks")).sort((a, b) => order(a) - order(b));
    parts = await rooms[room](now);
  } catch (error) {
    parts = [el("h1", {}, "That did not work"), fail(error), el("p", {}, el("a", { href: `#${room}` }, "Begin again"))];
  }
  if (mine !== drawing) return;
  main.replaceChildren(...parts.filter((part) => part !== ""));
  main.removeAttribute("aria-busy");
}

const order = (one) => 2 - one.seen.length; // who has most to see comes first

window.addEventListener("hashchange", () => { draw().then(() => main.focus({ preventScroll: true })); });
draw();
