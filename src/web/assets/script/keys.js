/**
 * Listens to keys: `/` moves the focus to the search box, and the left and right arrows open the previous and next
 * page.
 */
export function listenToKeys() {
  const box = /** @type {HTMLInputElement | null} */ (document.querySelector('input[name=q]'));
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && /^(?:input|textarea|select)$/i.test(event.target.tagName)) return;
    if (event.key === '/' && box !== null) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    // arrows with Shift are ignored, because they select text; `/` is not ignored, because some keyboards need Shift
    // for it
    if (event.shiftKey) return;
    const rel = { ArrowLeft: 'prev', ArrowRight: 'next' }[event.key];
    const link = rel && document.querySelector(`main a[rel=${rel}]`);
    if (link instanceof HTMLElement) link.click();
  });
}
