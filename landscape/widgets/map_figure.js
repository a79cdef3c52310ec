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
      return (await loading).render({ model, el });
    },
  };
};
