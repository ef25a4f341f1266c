/** A button with a menu: by pointer, or by keyboard with arrows and Escape. */
export class Menu {
  /** @param {HTMLButtonElement} button @param {HTMLElement} menu @param {() => void} opening called before it opens */
  constructor(button, menu, opening) {
    Object.assign(this, { button, menu, opening });
    button.addEventListener('click', () => (menu.hidden ? this.open() : this.close()));
    document.addEventListener('pointerdown', (event) => {
      if (!menu.hidden && !event.target.closest('.menu')) this.close(false);
    });
    menu.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const { items } = this;
      const at = items.indexOf(document.activeElement) + step;
      items[(at + items.length) % items.length].focus();
    });
  }

  get items() {
    return [...this.menu.querySelectorAll('button:enabled')];
  }

  get isOpen() {
    return !this.menu.hidden;
  }

  open() {
    if (this.button.disabled) return;
    this.opening();
    this.menu.hidden = false;
    this.button.setAttribute('aria-expanded', 'true');
    this.items[0]?.focus();
  }

  close(refocus = true) {
    this.menu.hidden = true;
    this.button.setAttribute('aria-expanded', 'false');
    if (refocus) this.button.focus();
  }
}
