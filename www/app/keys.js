/**
 * The keyboard: one table, which the help dialog shows too.
 * @typedef {{keys: string[], does?: string, when?: () => boolean, run: (event: KeyboardEvent) => void}} Binding `when` says
 *   whether the key is taken at all
 */

/** Kinds of elements that take typed text: there every key belongs to the text. */
const TYPING = 'textarea, select, input:not([type="checkbox"]):not([type="radio"]):not([type="file"])';

/** Elements with an arrow-key meaning of their own. */
const ARROWED = 'input[type="radio"], [role="slider"]';

/**
 * @param {Binding[]} bindings
 * @param {() => boolean} busy whether a dialog has the keyboard
 */
export function watchKeys(bindings, busy) {
  const table = new Map(bindings.flatMap((binding) => binding.keys.map((key) => [key, binding])));
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || busy()) return;
    const target = event.target instanceof Element ? event.target : null;
    if (event.key !== 'Escape' && target?.closest(TYPING)) return;
    if (event.key.startsWith('Arrow') && target?.closest(ARROWED)) return;
    const binding = table.get(event.key) ?? table.get(event.key.toLowerCase());
    if (!binding || binding.when?.() === false) return;
    event.preventDefault();
    binding.run(event);
  });
}
