import { grouped, sizeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout } from '#web/layout.ts';
import { check, feeField, field, input, type OrderFormView } from '#web/parts/order-fields.ts';

/** Bounds of an order. The page shows them before anything is sent. */
export interface InscribeLimits {
  /** Extensions of files, without a dot. */
  readonly extensions: readonly string[];
  readonly filesMax: number;
  /** Maximum size of a file in bytes, so that it fits into a transaction. */
  readonly fileBytesMax: number;
  readonly orderBytesMax: number;
}

export interface InscribeView extends OrderFormView {
  readonly limits: InscribeLimits;
  /** Names of satributes that the sats of a payment may have. */
  readonly satributes: readonly string[];
  /** Types of special sats that the operator sells. Empty if the operator sells none now. */
  readonly rareSats: readonly string[];
}

/** The page on which customers order inscriptions. */
export function inscribePage(view: InscribeView): Markup {
  const { site, closed } = view;
  return layout({
    title: 'Inscribe · Satscribe',
    description: 'Inscribe files and texts on Bitcoin: the exact price as you type, and no account.',
    site,
    scripts: closed === null ? ['order/inscribe-page.js'] : [],
    takesFiles: true,
    main: html`<h1>Inscribe</h1>
${closed === null ? orderForm(view) : closedWords(closed)}`,
  });
}

function closedWords(closed: string): Markup {
  return html`<section class="notice">
  <p><b>You cannot order here now:</b> ${closed}.</p>
  <p>If you run this service: <code>satscribe wallet init</code> creates a wallet, and <code>satscribe serve</code> with
WALLET_SEED_FILE and a node takes orders. See <a href="/status">Status</a> for what the service waits for.</p>
  <p><a href="/">Back to the search</a></p>
</section>`;
}

function orderForm(view: InscribeView): Markup {
  const { network, limits, demoAddress } = view;
  return html`<p class="faint">Drop files or write texts, see the exact price, pay with any wallet. There is no account:
keep the address of the order page.</p>
<noscript><p class="notice">This page needs scripts: it reads your files and asks for their price. Programs use
  <a href="/docs/#/orders">POST /inscribe</a>.</p></noscript>
<form id="inscribe" class="inscribe" novalidate hidden data-network="${network}" data-limits="${JSON.stringify(limits)}">
  <div class="asked">
    ${contentsPart(limits)}
    ${receiverPart(demoAddress)}
    ${feePart()}
    ${optionsPart(view)}
  </div>
  <section class="price card-box" aria-labelledby="price-title">
    <h2 id="price-title">Price</h2>
    <div id="price" aria-live="polite"><p class="faint">Add a file or a text to see its price.</p></div>
    <div role="alert"><ul id="refusals" class="problems" hidden></ul></div>
    <button id="order-button" class="button primary" type="submit" disabled>Order</button>
    <p class="faint small">You pay afterwards, on the order's page.</p>
  </section>
</form>
<p><a href="/order">Your orders</a> · <a href="/etch">Etch a rune</a></p>`;
}

function contentsPart({ extensions, filesMax, orderBytesMax }: InscribeLimits): Markup {
  const accept = extensions.map((extension) => `.${extension}`).join(',');
  return html`<section aria-labelledby="contents-title">
  <h2 id="contents-title">Contents</h2>
  <label class="dropzone" id="dropzone"><input id="files" class="unseen" type="file" multiple accept="${accept}">
    <span><b>Choose files</b> or drop them here</span>
    <small>up to ${grouped(filesMax)}, ${sizeWords(orderBytesMax)} together</small></label>
  <div class="field"><label for="text">Or write a text</label>
    <textarea id="text" rows="3" maxlength="390000" autocomplete="off"></textarea>
    <button id="add-text" class="button" type="button">Add this text</button></div>
  <details class="field"><summary>Or reuse the content of existing inscriptions (delegates)</summary>
    <label for="delegates">Ids, one per line: each new inscription shows the content of one</label>
    <textarea id="delegates" rows="2" spellcheck="false" autocomplete="off"></textarea>
    <button id="add-delegates" class="button" type="button">Add them</button></details>
  <div role="alert"><ul id="problems" class="problems" hidden></ul></div>
  <ol id="items" class="items" aria-label="Contents of the order"></ol>
</section>`;
}

function receiverPart(demoAddress: string | null): Markup {
  return html`<section aria-labelledby="receiver-title">
  <h2 id="receiver-title">Receiver</h2>
  ${field(
    'receiveAddress',
    'Address that receives the inscriptions',
    html`<textarea id="receiveAddress" name="receiveAddress" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off"
    aria-describedby="receiveAddress-hint receiveAddress-problem">${demoAddress}</textarea>`,
    demoAddress === null
      ? 'A taproot address of a wallet that shows inscriptions. One address for all, or one per line for each.'
      : 'This is a demo: the address is only for trying it out, and belongs to no wallet.',
  )}
  ${field('refundAddress', 'Refund address', input('refundAddress', 'text'), 'Refunds go to this address. Do not use an address of an exchange. Without one, the operator decides.')}
</section>`;
}

function feePart(): Markup {
  return html`<section aria-labelledby="fee-title">
  <h2 id="fee-title">Fee and method</h2>
  ${feeField()}
  <fieldset class="field choices"><legend>Who creates the transactions</legend>
    <label class="choice-box"><input type="radio" name="type" value="direct" checked> <span><b>Direct</b><br><small>The cheapest way. The payment address is derived from these inscriptions, so the payment can only become these.</small></span></label>
    <label class="choice-box"><input type="radio" name="type" value="bulk"> <span><b>Managed</b><br><small>You pay the service, and it creates all transactions.</small></span></label>
  </fieldset>
</section>`;
}

function optionsPart({ satributes, rareSats }: InscribeView): Markup {
  return html`<details id="more" class="more-options"><summary>More options</summary>
  <h2>Each inscription</h2>
  ${field('postage', 'Postage in sats', input('postage', 'text', 'numeric'), '330 to 10,000 for each inscription. Empty: 546.')}
  ${field('metadata', 'Metadata, as JSON', html`<textarea id="metadata" name="metadata" rows="2" spellcheck="false" autocomplete="off" aria-describedby="metadata-hint metadata-problem"></textarea>`, 'The same for all inscriptions, and permanent: a name, traits, a licence.')}
  ${field('metaprotocol', 'Metaprotocol', input('metaprotocol', 'text'), 'For indexers that know it.')}
  ${field('inscriptionIdPrefix', 'Beginning of the ids', input('inscriptionIdPrefix', 'text'), '1 to 4 hex digits: it costs nothing.')}
  <div class="choices">
    ${check('compress', 'Compress with brotli if that is shorter')}
    ${check('shared', 'All in one output: cheaper, moved together')}
    ${check('uncurse', 'One reveal each: no inscription is vindicated')}
    ${check('burn', 'Burn them: no one can ever own them')}
  </div>
  <h2>A parent</h2>
  ${field('parentId', 'Id of the parent', input('parentId', 'text'), 'You lend it to the order, and it returns with the inscriptions.')}
  ${field('parentValue', 'Sats of the output that contains it', input('parentValue', 'text', 'numeric'), 'Filled in if this service knows it.')}
  ${field('parentReturn', 'Address to which it returns', input('parentReturn', 'text'), '')}
  <h2>Special sats</h2>
  ${rareSats.length > 0 && field('rareSats', 'A sat of this service', html`<select id="rareSats" name="rareSats" aria-describedby="rareSats-hint rareSats-problem"><option value="">any sat</option>${rareSats.map((name) => html`<option>${name}</option>`)}</select>`, 'Each inscription is made on one of these sats, which you buy with the order.')}
  ${field(
    'allowedSatributes',
    rareSats.length > 0 ? 'Or one of your sats' : 'One of your sats',
    html`<input id="allowedSatributes" name="allowedSatributes" type="text" list="satributes" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="allowedSatributes-hint allowedSatributes-problem">
    <datalist id="satributes">${satributes.map((name) => html`<option value="${name}"></option>`)}</datalist>`,
    'Satributes, separated by commas: the inscription is made on such a sat of your payment, or not at all.',
  )}
  <h2>The order</h2>
  ${field('timeout', 'Minutes to pay', input('timeout', 'text', 'numeric'), 'A multiple of 10.')}
</details>`;
}
