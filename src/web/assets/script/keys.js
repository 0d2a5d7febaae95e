/** `/` focuses the search box; the arrows turn pages. */
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
    // with Shift, arrows select text; some keyboards need Shift for `/`
    if (event.shiftKey) return;
    const rel = { ArrowLeft: 'prev', ArrowRight: 'next' }[event.key];
    const link = rel && document.querySelector(`main a[rel=${rel}]`);
    if (link instanceof HTMLElement) link.click();
  });
}
