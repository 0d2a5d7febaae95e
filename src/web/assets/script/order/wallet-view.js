// Payment with a wallet that signs: a wallet in the browser, or any other wallet that accepts a PSBT as text or file.
import { satsWords } from './amounts.js';
import { postJson } from './ask-service.js';
import { copyButton, element } from './elements.js';
import { builtProblem, hexOf, psbtBytes, signSame, signsTransaction } from './psbt-bytes.js';
import { networkProblem, oneAddress, WalletFailure, walletsIn } from './wallets.js';

/** @import { Child } from './elements.js' */
/** @import { Outcome } from './ask-service.js' */
/** @import { Account, Unsigned, Wallet } from './wallets.js' */

/**
 * @typedef {Unsigned & {
 *   readonly fee: number,
 *   readonly outputs: readonly { readonly address: string | null, readonly value: number, readonly purpose: string }[],
 *   readonly warnings: readonly string[],
 *   readonly unproven: readonly string[],
 *   readonly asked: string,
 * }} Built `asked`: the payment that the order needed when this PSBT was made
 *
 * @typedef {{
 *   readonly asked: string,
 *   readonly charges: readonly Readonly<{ address: string, sats: number }>[],
 *   readonly special: readonly string[],
 *   readonly make: (account: Account, specialOutput: string) => Promise<Outcome>,
 * }} Payment `asked`: the missing amounts as a text. If this text differs, the payment is a different one. `charges`:
 *   the minimum amounts that the transaction must pay. `special`: satributes that the customer's sat must have.
 *   `make`: requests the PSBT from the service
 *
 * @typedef {{
 *   readonly network: string,
 *   readonly holds: string,
 *   readonly said: HTMLElement,
 *   readonly newest: () => Promise<Payment | null | undefined>,
 *   readonly onSent: () => void,
 * }} WalletParts `holds`: the name of the things at the taproot address. `said`: the element for messages. This
 *   element is still on the page when everything is paid. `newest`: requests the current payment from the service.
 *   Returns `null` if nothing must be paid, and `undefined` if the service does not answer
 */

/**
 * Maximum size of a signed file in bytes: the largest PSBT that the service finalizes, in hex with a line break at its
 * end.
 */
const fileBytesMax = 2_000_010;

export class WalletView {
  #parts;
  #network;
  /** @type {Payment | null} */
  #payment = null;
  #said;
  /**
   * Number of started payments. A new payment ends earlier payments, because a wallet may answer two requests, but only
   * one of the two may pay.
   */
  #begun = 0;
  #isSending = false;
  /** @type {{ readonly asked: string, readonly txid: string } | null} */
  #paid = null;
  #signing = element('div', { class: 'signing' });
  #special = element('input', {
    id: 'special-output',
    type: 'text',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    'aria-describedby': 'special-output-hint',
  });

  /** @param {WalletParts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#said = parts.said;
    this.#network = parts.network;
  }

  /** @param {Payment | null} payment the newest payment. `null` if nothing must be paid */
  set payment(payment) {
    this.#payment = payment;
  }

  /** Forgets the payments of the previous order. */
  reset() {
    this.#begun += 1;
    this.#payment = null;
    this.#special.value = '';
    this.#signing.replaceChildren();
  }

  /** @returns {readonly Child[]} */
  view() {
    const wallets = walletsIn(
      /** @type {Readonly<Record<string, unknown>>} */ (/** @type {unknown} */ (globalThis)),
    );
    return [
      element('h2', {}, 'Pay with a wallet that signs'),
      wallets.length > 0 &&
        element(
          'div',
          { class: 'choices' },
          ...wallets.map((wallet) =>
            element(
              'button',
              { class: 'button', type: 'button', click: () => void this.#with(wallet) },
              `Pay with ${wallet.name}`,
            ),
          ),
        ),
      this.#specialSat(),
      this.#otherWallet(),
    ];
  }

  /** Shows the field for the output with the special sat, if the order needs one of the customer's sats. */
  #specialSat() {
    const wanted = this.#payment?.special ?? [];
    if (wanted.length === 0) return null;
    return element(
      'div',
      { class: 'field' },
      element('label', { for: 'special-output' }, `Output with your sat (${wanted.join(', ')})`),
      this.#special,
      element(
        'p',
        { class: 'hint small', id: 'special-output-hint' },
        '<txid>:<vout>, at the address of your inscriptions. Its other contents return there.',
      ),
    );
  }

  /** @param {string} words */
  #say(words) {
    this.#said.textContent = words;
  }

  /** @param {Wallet} wallet */
  async #with(wallet) {
    this.#begun += 1;
    const begun = this.#begun;
    const isOver = () => begun !== this.#begun;
    try {
      this.#say(`${wallet.name} asks you to connect…`);
      const account = await wallet.connect();
      if (isOver()) return;
      const problem = networkProblem(account.paymentAddress, this.#network);
      if (problem !== null) {
        this.#say(`${problem} Switch ${wallet.name} to ${this.#network}, and try again.`);
        return;
      }
      const built = await this.#build(account);
      if (built === null || isOver()) return;
      const unproven = [...built.warnings, ...built.unproven].map((each) => ` ${each}`).join('');
      this.#say(`${wallet.name} shows the payment: sign it there.${unproven}`);
      const signed = await wallet.sign(built, account);
      if (isOver()) return;
      await this.#send(built, signed, wallet.name);
    } catch (error) {
      if (isOver()) return;
      this.#say(
        error instanceof WalletFailure
          ? error.message
          : `${wallet.name} failed: ${String(error)}. Nothing was paid.`,
      );
    }
  }

  /**
   * The PSBT that pays the missing amount. If there is no PSBT, returns `null`, and the page shows the reason.
   *
   * @param {Account} account
   * @returns {Promise<Built | null>}
   */
  async #build(account) {
    const payment = this.#payment;
    if (payment === null) {
      this.#say('The order needs no more payment.');
      return null;
    }
    const { asked } = payment;
    if (this.#paid?.asked === asked) {
      this.#say(
        `You have just paid this, in transaction ${this.#paid.txid}. If your wallet says that the transaction was dropped, reload this page, and pay again.`,
      );
      return null;
    }
    this.#say('Preparing the payment…');
    const outcome = await payment.make(account, this.#special.value.trim());
    if (outcome.kind !== 'answered') {
      this.#say(outcome.messages.join(' '));
      return null;
    }
    const built = { .../** @type {Built} */ (outcome.body), asked };
    const [problem = null] = payment.charges.flatMap((charge) => builtProblem(built, charge) ?? []);
    if (problem !== null) this.#say(problem);
    return problem === null ? built : null;
  }

  /**
   * Finalizes and sends a signed payment. Does nothing while another payment is being sent.
   *
   * @param {Built} built
   * @param {string | Uint8Array} signed
   * @param {string} by
   */
  async #send(built, signed, by) {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      await this.#finalize(built, signed, by);
    } finally {
      this.#isSending = false;
    }
  }

  /**
   * @param {Built} built
   * @param {string | Uint8Array} signed
   * @param {string} by
   */
  async #finalize(built, signed, by) {
    const [given, back] = [psbtBytes(built.psbtHex), psbtBytes(signed)];
    // some wallets return the complete transaction instead of a PSBT
    const whole = back === null && typeof signed === 'string' ? signed.trim().toLowerCase() : null;
    if (given === null || (back === null && (whole === null || !/^(?:[0-9a-f]{2})+$/u.test(whole)))) {
      this.#say(
        'This is not a PSBT, which begins with cHNidP8 as text, or 70736274ff in hex. A signed transaction in hex is accepted too. Nothing was sent.',
      );
      return;
    }
    if (back === null ? whole === null || !signsTransaction(given, whole) : !signSame(given, back)) {
      this.#say(
        `${by} signed a different transaction. It was not sent from here: check whether the wallet paid anything, then try again.`,
      );
      return;
    }
    this.#say('Checking the signatures…');
    if (!(await this.#isStillAsked(built.asked))) {
      this.#say(
        'Nothing was sent, because the order now needs a different payment. See above, and start again.',
      );
      this.#signing.replaceChildren();
      this.#parts.onSent();
      return;
    }
    if (back === null) {
      await this.#submit(whole ?? '', built.asked);
      return;
    }
    const made = await postJson('/tokenpay/utils/finalize-psbt', { psbt: hexOf(back) });
    if (made.kind !== 'answered') {
      this.#say(`${made.messages.join(' ')} Nothing was sent.`);
      return;
    }
    const { hex } = /** @type {{ hex: string }} */ (made.body);
    await this.#submit(hex, built.asked);
  }

  /**
   * Whether the order still needs the payment that was prepared. Also true if the service does not answer, because the
   * service would refuse a wrong payment.
   *
   * @param {string} asked
   */
  async #isStillAsked(asked) {
    const newest = await this.#parts.newest();
    const payment = newest === undefined ? this.#payment : newest;
    return payment !== null && payment.asked === asked;
  }

  /**
   * @param {string} hex
   * @param {string} asked
   */
  async #submit(hex, asked) {
    const sent = await postJson('/tokenpay/utils/submittx', { hex });
    if (
      sent.kind === 'unreachable' ||
      (sent.kind === 'refused' && (sent.status === 429 || sent.status >= 500))
    ) {
      this.#said.replaceChildren(
        `${sent.messages.join(' ')} It is signed, and may have been sent. Sending the same payment again pays only once; another payment would pay twice. `,
        element(
          'button',
          { class: 'button', type: 'button', click: () => void this.#submit(hex, asked) },
          'Send it again',
        ),
      );
      return;
    }
    if (sent.kind === 'refused') {
      this.#say(`It was signed, but not sent: ${sent.messages.join(' ')}`);
      return;
    }
    const { txid, warnings = [] } = /** @type {{ txid: string, warnings?: readonly string[] }} */ (sent.body);
    this.#paid = { asked, txid };
    this.#say(`Paid, in transaction ${txid}. ${warnings.join(' ')}`);
    this.#signing.replaceChildren();
    this.#parts.onSent();
  }

  /**
   * The part for any wallet that signs PSBTs. The customer copies or saves the PSBT, and then enters the signed PSBT.
   */
  #otherWallet() {
    const fields = /** @type {const} */ ([
      ['payment-address', 'Address that pays'],
      ['payment-key', 'Its public key, in hex'],
      ['ordinal-address', `Taproot address of ${this.#parts.holds}, if it is a different one`],
      ['ordinal-key', 'Its public key, in hex'],
    ]);
    const form = element(
      'form',
      {
        class: 'other-wallet',
        submit: (event) => {
          event.preventDefault();
          void this.#make(form);
        },
      },
      ...fields.map(([id, label]) =>
        element(
          'div',
          { class: 'field' },
          element('label', { for: id }, label),
          element('input', {
            id,
            name: id,
            type: 'text',
            spellcheck: 'false',
            autocapitalize: 'off',
            autocomplete: 'off',
          }),
        ),
      ),
      element('button', { class: 'button', type: 'submit' }, 'Create the PSBT'),
    );
    return element(
      'details',
      { class: 'more-options' },
      element('summary', {}, 'Another wallet: sign a PSBT as text or file'),
      element(
        'p',
        { class: 'hint' },
        'The payment is created here. Sign it in your wallet, and bring it back. Addresses and keys are not stored.',
      ),
      form,
      this.#signing,
    );
  }

  /** @param {HTMLFormElement} form */
  async #make(form) {
    const data = new FormData(form);
    const textOf = (/** @type {string} */ name) => String(data.get(name) ?? '').trim();
    const [address, key] = [textOf('payment-address'), textOf('payment-key')];
    const problem =
      address === '' || key === ''
        ? 'Enter the address that pays, and its public key.'
        : networkProblem(address, this.#network);
    if (problem !== null) {
      this.#say(problem);
      return;
    }
    const other = { ordinalAddress: textOf('ordinal-address'), ordinalPublicKey: textOf('ordinal-key') };
    const account =
      other.ordinalAddress === ''
        ? oneAddress(address, key)
        : { paymentAddress: address, paymentPublicKey: key, ...other };
    const built = await this.#build(account);
    if (built === null) return;
    this.#say('Sign it in your wallet, and bring it back below.');
    this.#signing.replaceChildren(...this.#signingView(built));
  }

  /** @param {Built} built */
  #signingView(built) {
    const bytes = psbtBytes(built.psbtHex) ?? new Uint8Array();
    const file = new Blob([Uint8Array.from(bytes)], { type: 'application/octet-stream' });
    const signed = element('textarea', {
      id: 'signed-psbt',
      rows: '3',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    const send = (/** @type {string | Uint8Array} */ given) => void this.#send(built, given, 'Your wallet');
    const chosen = element('input', {
      id: 'signed-file',
      type: 'file',
      accept: '.psbt,.txt',
      change: () => void this.#readFile(chosen, send),
    });
    return [
      element('label', { for: 'unsigned-psbt' }, `The PSBT: it pays ${satsWords(built.fee)} to miners`),
      element('textarea', { id: 'unsigned-psbt', rows: '3', readonly: true }, built.psbtBase64),
      element('p', {}, copyButton(built.psbtBase64, 'the PSBT'), ' ', saveButton(file)),
      ...[...built.warnings, ...built.unproven].map((words) => element('p', { class: 'hint' }, words)),
      element('label', { for: 'signed-psbt' }, 'Signed, as text'),
      signed,
      element('button', { class: 'button', type: 'button', click: () => send(signed.value) }, 'Send it'),
      element('p', {}, element('label', { for: 'signed-file' }, 'Or as a file '), chosen),
    ];
  }

  /**
   * @param {HTMLInputElement} chosen
   * @param {(given: Uint8Array) => void} send
   */
  async #readFile(chosen, send) {
    const [file] = chosen.files ?? [];
    if (file === undefined) return;
    if (file.size > fileBytesMax) {
      this.#say(`${file.name} is too large for a PSBT. Nothing was sent.`);
      return;
    }
    send(new Uint8Array(await file.arrayBuffer()));
    chosen.value = '';
  }
}

/** @param {Blob} file */
const saveButton = (file) =>
  element(
    'button',
    {
      class: 'button',
      type: 'button',
      click: () => {
        const href = URL.createObjectURL(file);
        element('a', { href, download: 'order.psbt' }).click();
        // the browser has started to read the file after a minute
        setTimeout(() => URL.revokeObjectURL(href), 60_000);
      },
    },
    'Save as a file',
  );
