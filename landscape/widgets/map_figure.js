// Part of a figure widget that runs in the page. It loads plotly.js once for all figures of a page.
// anywidget drops all messages to a widget if its module takes longer than two seconds to load.
// plotly.js has five megabytes, which is too large for a slow connection. This module is therefore
// small, and loads plotly.js later. If it still loads too late, the widget receives messages itself
// (see listen).

const LOADED = Symbol.for("landscape.plotly");

async function load(model) {
  const link = URL.createObjectURL(new Blob([model.get("_bundle")], { type: "text/javascript" }));
  try {
    return (await import(/* webpackIgnore: true */ link)).default;
  } finally {
    URL.revokeObjectURL(link);
  }
}

// While the kernel is busy, the page keeps only the last value of each trait. plotly reports all
// events in two traits, so a hover event would replace a lasso that was just drawn, and a lasso
// would replace an earlier zoom. Hover events and the defaults of plotly are therefore not sent, and
// changes of the layout that were not sent yet are merged.
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

// Returns the ipywidgets model. Modules receive only the wrapper of anywidget.
const wholeOf = (model) => model.widget_manager.get_model(model.get("_own_id"));

// Passes messages to the model as ipywidgets does. anywidget would drop them if this module was
// loaded too late.
async function listen(model) {
  const whole = await wholeOf(model);
  const handle = Object.getPrototypeOf(Object.getPrototypeOf(whole))._handle_comm_msg;
  whole.comm?.on_msg(handle.bind(whole));
}

// The buttons of the Play widget of ipywidgets have no labels, which screen readers need.
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
