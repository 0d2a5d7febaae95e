import { html, type Markup } from '#web/html.ts';

export interface KeyFormView {
  /** A sentence that says why a key is needed. */
  readonly words: string;
  /** The path to open next. */
  readonly to: string;
  readonly button: string;
  /** Whether the browser keeps a key that is not valid here. */
  readonly isWrong: boolean;
}

/** A form that gives the browser a key, in a cookie that scripts cannot read. */
export function keyForm({ words, to, button, isWrong }: KeyFormView): Markup {
  return html`<p>${words}</p>
<form class="search key" action="/key" method="post">
  <div class="box">
    <input name="key" type="password" required maxlength="200" autocomplete="off" aria-label="Your key" placeholder="satscribe_…">
    <input type="hidden" name="to" value="${to}">
    <button type="submit">${button}</button>
  </div>
  <p><small>A cookie keeps it until you close the browser. Ask the operator of this service for a key.</small></p>
</form>
${isWrong && html`<form action="/key/forget" method="post"><input type="hidden" name="to" value="${to}"><p><button class="button" type="submit">Forget the key in this browser</button></p></form>`}`;
}
