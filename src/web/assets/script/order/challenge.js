// The challenge that a customer solves before an order, by Turnstile, if the service requires it.

const scriptUrl = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit';
/** A token for services without a challenge, which accept any token. */
const anyToken = 'satscribe page';

/**
 * The part of Turnstile's script that is used (developers.cloudflare.com/turnstile, "Explicit rendering").
 *
 * @typedef {{
 *   readonly render: (place: HTMLElement, options: Readonly<Record<string, unknown>>) => string,
 *   readonly reset: (id: string) => void,
 * }} Turnstile
 */

export class Challenge {
  /** @type {string | null} */
  #token;
  /** @type {string | null} */
  #widget = null;
  #isFailed = false;

  /**
   * @param {HTMLElement} place
   * @param {string | undefined} siteKey undefined: there is no challenge
   */
  constructor(place, siteKey) {
    this.#token = siteKey === undefined ? anyToken : null;
    if (siteKey === undefined) return;
    const script = document.createElement('script');
    script.src = scriptUrl;
    script.async = true;
    script.addEventListener('load', () => this.#show(place, siteKey));
    script.addEventListener('error', () => {
      this.#isFailed = true;
    });
    document.head.append(script);
  }

  /** The token of a solved challenge, or null if the challenge is not solved. */
  get token() {
    return this.#token;
  }

  /** Text that tells the customer what to do while the challenge is not solved. */
  get words() {
    return this.#isFailed
      ? 'The challenge of Cloudflare could not be loaded: allow challenges.cloudflare.com, and reload the page.'
      : 'Solve the challenge above the button first.';
  }

  /** Starts a new challenge, because a token is valid for only one order. */
  reset() {
    if (this.#widget === null) return;
    this.#token = null;
    turnstile()?.reset(this.#widget);
  }

  /**
   * @param {HTMLElement} place
   * @param {string} siteKey
   */
  #show(place, siteKey) {
    const forget = () => {
      this.#token = null;
    };
    this.#widget =
      turnstile()?.render(place, {
        sitekey: siteKey,
        size: 'flexible',
        callback: (/** @type {string} */ token) => {
          this.#token = token;
        },
        'expired-callback': forget,
        'error-callback': forget,
      }) ?? null;
  }
}

/** @returns {Turnstile | undefined} */
const turnstile = () => /** @type {{ turnstile?: Turnstile }} */ (/** @type {unknown} */ (window)).turnstile;
