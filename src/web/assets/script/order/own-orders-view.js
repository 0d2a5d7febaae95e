// Shows the list of this browser's orders, with links to their pages.
import { element } from './elements.js';
import { browserStorage, forgetOrder, ownOrders } from './own-orders.js';
import { momentWords } from './state-words.js';

/** @param {HTMLElement} part */
export function showOwnOrders(part) {
  const orders = ownOrders(browserStorage());
  part.hidden = orders.length === 0;
  part.replaceChildren(
    element('h2', {}, 'Orders of this browser'),
    element(
      'p',
      { class: 'hint small' },
      'This list is only stored in this browser. Anyone who uses this browser can open the orders.',
    ),
    element(
      'ul',
      { class: 'own-orders' },
      ...orders.map(({ id, at, words }) =>
        element(
          'li',
          {},
          element('a', { href: `/order#${id}` }, `${words}, ${momentWords(at)}`),
          element(
            'button',
            {
              class: 'button',
              type: 'button',
              'aria-label': `Forget the order of ${momentWords(at)}`,
              click: () => {
                forgetOrder(browserStorage(), id);
                showOwnOrders(part);
              },
            },
            'Forget',
          ),
        ),
      ),
    ),
  );
}
