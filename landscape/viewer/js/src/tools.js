// Page of a notebook with what needs the kernel: selections, summaries, answers and files.

import { h } from "./dom.js";

const FILES = { ".png": "PNG picture", ".pdf": "PDF for print", ".svg": "SVG for print", ".html": "Web page, offline" };

/** Page with tools. */
export class Tools {
  /**
   * @param {import("./panel.js").Viewer} viewer
   * @param {import("./notebook.js").Kernel} kernel
   */
  constructor(viewer, kernel) {
    this.viewer = viewer;
    this.kernel = kernel;
    const { model } = kernel;
    this._outcome = h("div", { class: "outcome", "aria-live": "polite" });
    const reload = h("button", { hidden: true, onclick: () => kernel.ask({ do: "reload" }) }, "Reload the atlas");
    const format = h(
      "select",
      { "aria-label": "Kind of file" },
      ...Object.entries(FILES).map(([value, label]) => h("option", { value }, label)),
    );
    this.element = h(
      "section",
      { class: "tools", "aria-label": "Tools" },
      reload,
      h("h2", {}, "Select by a filter"),
      this._field("Filter", "2015..; author:Rubin", (filter) => kernel.ask({ do: "select", filter })),
      h("h2", {}, "The selected papers"),
      h(
        "p",
        { class: "group" },
        h("button", { onclick: () => kernel.ask({ do: "summary" }) }, "Summary"),
        h("button", { onclick: () => kernel.ask({ do: "compare" }) }, "Compare with the rest"),
      ),
      this._field("Question", "Ask these papers", (question) => kernel.ask({ do: "ask", question })),
      this._outcome,
      h("h2", {}, "Save the map"),
      h(
        "p",
        { class: "group" },
        format,
        h("button", { onclick: () => kernel.ask({ do: "save", suffix: format.value }) }, "Make the file"),
      ),
    );
    const follow = () => {
      // The kernel writes this HTML, and escapes the texts of papers in it.
      this._outcome.innerHTML = model.get("outcome");
      reload.hidden = !model.get("is_old");
    };
    for (const name of ["outcome", "is_old"]) kernel.on(`change:${name}`, follow);
    follow();
  }

  /**
   * @param {string} label
   * @param {string} placeholder
   * @param {(text: string) => void} use
   */
  _field(label, placeholder, use) {
    const field = h("input", {
      type: "text",
      "aria-label": label,
      placeholder,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && field.value.trim()) use(field.value.trim());
      },
    });
    return field;
  }
}
