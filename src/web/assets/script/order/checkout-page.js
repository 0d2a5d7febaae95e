// The page on which the customer of a shop pays: it asks for itself again, and shows what changed.

import { byId } from './elements.js';
import { pauseMs } from './polling.js';

const shown = byId('checkout', HTMLElement);
let failures = 0;

async function look() {
  try {
    const answer = await fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-store' });
    const text = answer.ok ? await answer.text() : null;
    // our own page, whose texts the service escaped
    const made = text === null ? null : new DOMParser().parseFromString(text, 'text/html');
    const next = made?.getElementById('checkout') ?? null;
    failures = next === null ? failures + 1 : 0;
    if (next !== null && next.innerHTML !== shown.innerHTML) {
      shown.dataset['state'] = next.dataset['state'];
      shown.replaceChildren(...next.childNodes);
    }
  } catch {
    failures += 1;
  }
  wait();
}

function wait() {
  const state = shown.dataset['state'] === 'open' ? 'waiting-payment' : 'completed';
  setTimeout(() => void look(), pauseMs({ state, isHidden: document.hidden, failures, retryAfterMs: null }));
}

wait();
