import { byId, say } from './dom.js';

/**
 * Shows the link to the present view, copied already where the browser allows it.
 * @param {string} link @param {boolean} local whether it cannot hold the data, which lies on this computer
 */
export async function showLink(link, local) {
  byId('share-link').value = link;
  let copied = false;
  try {
    await navigator.clipboard.writeText(link);
    copied = true;
  } catch {
    // Not allowed to write the clipboard: the field is selected for copying by hand.
  }
  const hints = [copied ? 'Copied.' : 'Copy it from the field.'];
  if (local) hints.push('Local files are not part of a link: whoever opens it drops them again.');
  say(byId('share-hint'), hints.join(' '));
  byId('share-dialog').showModal();
  byId('share-link').select();
}
