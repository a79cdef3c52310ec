// The page's side of a figure: loads plotly.js once a page, however many figures it holds.
// anywidget drops every message to a widget whose module takes longer than two seconds to load,
// as five megabytes do over a slow line; this module is small, and the large one comes after it.
// Should a busy page take longer all the same, the widget listens for itself (see listen).

const LOADED = Symbol.for("landscape.plotly");

async function load(model) {
  const link = URL.createObjectURL(new Blob([model.get("_bundle")], { type: "text/javascript" }));
  try {
    return (await import(/* webpackIgnore: true */ link)).default;
  } finally {
    URL.revokeObjectURL(link);
  }
}

// While the kernel is busy with a message, the page keeps only the last value of each trait for it,
// and plotly tells all that happens in two of them: a pointer that moves on over the dots would
// wipe out the lasso just drawn, and a lasso the zoom before it. The kernel needs no hovering, nor
// the defaults that plotly fills in at every drawing; changes of the layout that still wait are kept.
const EVENTS = "_js2py_pointsCallback";
const LAYOUT = "_js2py_relayout";
const HOVERING = ["plotly_hover", "plotly_unhover"];
const DEFAULTS = ["_js2py_traceDeltas", "_js2py_layoutDelta", "_js2py_widget_layoutDelta"];

function withoutLosses(model) {
  let whole;
  wholeOf(model).then((found) => (whole = found));
  const set = (name, value) => {
    if (DEFAULTS.includes(name)) return;
    if (name === EVENTS && HOVERING.includes(value?.event_type)) return;
    const waiting = name === LAYOUT && value && whole?._msg_buffer?.[LAYOUT];
    const all = waiting && { ...waiting.relayout_data, ...value.relayout_data };
    model.set(name, all ? { ...value, relayout_data: all } : value);
  };
  return { ...model, set };
}

// The model of ipywidgets behind the one that anywidget shows to modules.
const wholeOf = (model) => model.widget_manager.get_model(model.get("_own_id"));

// Hands messages to the model as ipywidgets does, without anywidget in between, which would drop
// them for good where this module came late.
async function listen(model) {
  const whole = await wholeOf(model);
  const handle = Object.getPrototypeOf(Object.getPrototypeOf(whole))._handle_comm_msg;
  whole.comm?.on_msg(handle.bind(whole));
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
      listen(model);
      globalThis[LOADED] ??= load(model);
      loading = globalThis[LOADED].then((make) => {
        const widget = make();
        widget.initialize({ model: withoutLosses(model) });
        return widget;
      });
    },
    async render({ model, el }) {
      namePlay(el);
      return (await loading).render({ model, el });
    },
  };
};
