/** Elements by id and from text. Text from files only ever passes through `textContent`. */

/** The element with an id that the page is known to have. @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element “${id}”.`);
  return found;
}

/** A new element with a class and a text. */
export function make(tag, className = '', text = '') {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Sets a text only when it differs, so that screen readers are not told the same twice. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Hands a file to the user. */
export function download(blob, name) {
  const link = make('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Notices at the top of the image: one at a time, with an optional button. */
export class Notice {
  constructor(element) {
    this.element = element;
  }

  /** @param {'error' | 'warning' | 'info'} kind @param {string} text @param {{label: string, run(): void}} [action] */
  show(kind, text, action) {
    this.element.replaceChildren(make('p', '', text));
    this.element.dataset.kind = kind;
    this.element.setAttribute('role', kind === 'error' ? 'alert' : 'status');
    if (action) this.button(action.label, () => {
      this.hide();
      action.run();
    });
    this.button('Dismiss', () => this.hide(), 'quiet');
    this.element.hidden = false;
  }

  button(label, run, className = '') {
    const button = make('button', className, label);
    button.type = 'button';
    button.addEventListener('click', run);
    this.element.append(button);
  }

  hide() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
