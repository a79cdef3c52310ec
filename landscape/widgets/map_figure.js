// The page's side of a figure: loads plotly.js once a page, however many figures it holds.
// anywidget drops every message to a widget whose module takes longer than two seconds to load,
// as five megabytes do over a slow line; this module is small, and the large one comes after it.

const LOADED = Symbol.for("landscape.plotly");

async function load(model) {
  const link = URL.createObjectURL(new Blob([model.get("_bundle")], { type: "text/javascript" }));
  try {
    return (await import(/* webpackIgnore: true */ link)).default;
  } finally {
    URL.revokeObjectURL(link);
  }
}

// ipywidgets gives the buttons of its Play no names, and a screen reader has nothing else to say.
const PLAY = ["Play or pause", "Stop playing", "Play again and again"];

function namePlay(el, patience = 50) {
  const buttons = el.closest(".landscape-explorer")?.querySelectorAll(".widget-play button") ?? [];
  buttons.forEach((button, n) => button.setAttribute("aria-label", PLAY[n % PLAY.length]));
  if (!buttons.length && patience) setTimeout(() => namePlay(el, patience - 1), 200);
}

export default () => {
  let loading;
  return {
    initialize({ model }) {
      globalThis[LOADED] ??= load(model);
      loading = globalThis[LOADED].then((make) => {
        const widget = make();
        widget.initialize({ model });
        return widget;
      });
    },
    async render({ model, el }) {
      namePlay(el);
      return (await loading).render({ model, el });
    },
  };
};
