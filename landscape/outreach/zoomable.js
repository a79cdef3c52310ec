// Pan, zoom, names that keep their distance, and a card for each place. No network, no library.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MOST = 24;
  const svg = document.getElementById("map");
  const world = document.getElementById("world");
  const places = JSON.parse(document.getElementById("places").textContent);
  const card = document.getElementById("card");
  const list = document.getElementById("list");
  const search = document.getElementById("search");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const view = { k: 1, x: 0, y: 0 };
  const byKey = new Map(places.map((place) => [place.place, place]));

  // Names on the sheet shrink about their middle as the map grows, so none comes nearer another.
  const drawn = [...world.querySelectorAll("g[data-place]")].map((group) => {
    const box = group.getBBox();
    const place = byKey.get(group.dataset.place);
    makeButton(group, place);
    return { group, x: box.x + box.width / 2, y: box.y + box.height / 2 };
  });

  // Places without room on the sheet get their names once there is room.
  const more = places
    .filter((place) => !place.shown && place.kind !== "strait" && place.kind !== "sea")
    .sort((a, b) => (b.papers || 0) - (a.papers || 0))
    .map((place) => {
      const text = document.createElementNS(SVG, "text");
      text.setAttribute("class", "more");
      text.textContent = place.name;
      makeButton(text, place);
      world.append(text);
      return { text, place };
    });

  function makeButton(element, place) {
    if (!place) return;
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", place.name);
    element.addEventListener("click", () => tell(place));
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        tell(place);
      }
    });
  }

  function show() {
    const limit = (value, size) => Math.min(0, Math.max(size - size * view.k, value));
    view.x = limit(view.x, width);
    view.y = limit(view.y, height);
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
    const shrunk = view.k ** -0.55;
    for (const { group, x, y } of drawn) {
      group.setAttribute(
        "transform",
        `translate(${x} ${y}) scale(${shrunk}) translate(${-x} ${-y})`,
      );
    }
    nameMore(shrunk);
  }

  function nameMore(shrunk) {
    const taken = drawn.map(({ group }) => group.getBoundingClientRect());
    for (const { text, place } of more) {
      text.setAttribute("transform", `translate(${place.at[0]} ${place.at[1]}) scale(${shrunk})`);
      text.style.display = view.k >= 1.5 ? "" : "none";
      if (view.k < 1.5) continue;
      const box = text.getBoundingClientRect();
      const touches = taken.some(
        (other) =>
          box.left < other.right + 3 &&
          other.left < box.right + 3 &&
          box.top < other.bottom + 2 &&
          other.top < box.bottom + 2,
      );
      if (touches) text.style.display = "none";
      else taken.push(box);
    }
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const k = Math.min(MOST, Math.max(1, view.k * factor));
    view.x = x - ((x - view.x) * k) / view.k;
    view.y = y - ((y - view.y) * k) / view.k;
    view.k = k;
    show();
  }

  function pan(right, down) {
    view.x += right;
    view.y += down;
    show();
  }

  function onSheet(event) {
    const point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(svg.getScreenCTM().inverse());
  }

  svg.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = onSheet(event);
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), x, y);
    },
    { passive: false },
  );

  const fingers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, onSheet(event));
    moved = false;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = onSheet(event);
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const apart = (a) => Math.hypot(a.x - other.x, a.y - other.y);
      zoom(apart(now) / Math.max(apart(before), 1e-6), other.x, other.y);
    } else if (moved || Math.hypot(now.x - before.x, now.y - before.y) > 2) {
      if (!moved) svg.setPointerCapture(event.pointerId); // not before: a click stays a click
      moved = true;
      pan(now.x - before.x, now.y - before.y);
    } else return;
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    svg.addEventListener(name, (event) => fingers.delete(event.pointerId));
  }
  svg.addEventListener("dblclick", (event) => {
    const { x, y } = onSheet(event);
    zoom(2, x, y);
  });

  const step = 60;
  const keys = {
    ArrowLeft: () => pan(step, 0),
    ArrowRight: () => pan(-step, 0),
    ArrowUp: () => pan(0, step),
    ArrowDown: () => pan(0, -step),
    "+": () => zoom(1.4),
    "=": () => zoom(1.4),
    "-": () => zoom(1 / 1.4),
    0: () => zoom(1e-9),
    Escape: () => (card.hidden = true),
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  document.getElementById("closer").addEventListener("click", () => zoom(1.4));
  document.getElementById("farther").addEventListener("click", () => zoom(1 / 1.4));
  document.getElementById("whole").addEventListener("click", () => zoom(1e-9));

  function line(kind, words) {
    const element = document.createElement(kind);
    element.textContent = words; // never as HTML: names come from papers
    return element;
  }

  function tell(place) {
    const facts = [];
    if (place.technical && place.technical !== place.name) facts.push(place.technical);
    if (place.papers) facts.push(`${place.papers.toLocaleString("en")} papers`);
    if (place.recent !== null) facts.push(`${Math.round(100 * place.recent)}% recent`);
    card.replaceChildren(line("h2", place.name), line("p", facts.join(" · ")));
    if (place.note) card.append(line("p", place.note));
    else if (place.keywords.length) card.append(line("p", place.keywords.join(", ")));
    card.hidden = false;
  }

  function fly(place) {
    view.k = Math.max(view.k, 3);
    view.x = width / 2 - place.at[0] * view.k;
    view.y = height / 2 - place.at[1] * view.k;
    show();
    tell(place);
  }

  function find() {
    const wanted = search.value.trim().toLocaleLowerCase();
    const fitting = places.filter((place) =>
      [place.name, place.technical, ...place.keywords].some((words) =>
        words.toLocaleLowerCase().includes(wanted),
      ),
    );
    list.replaceChildren(
      ...fitting.map((place) => {
        const item = document.createElement("li");
        const button = line("button", place.name);
        button.className = place.kind;
        button.addEventListener("click", () => fly(place));
        item.append(button);
        return item;
      }),
    );
  }
  search.addEventListener("input", find);
  find();
  show();
  document.fonts?.ready.then(show);
})();
