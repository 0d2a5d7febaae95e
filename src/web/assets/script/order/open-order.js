// Opens the page of an order by its id. The id becomes the fragment of the URL, because browsers never send the
// fragment.
import { byId } from './elements.js';
import { orderIdOf } from './own-orders.js';

export function listenToOpening() {
  const form = byId('open-order', HTMLFormElement);
  const field = byId('order-id', HTMLInputElement);
  const problem = byId('order-id-problem', HTMLElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // the complete URL of the page is also accepted, because people paste it
    const id = orderIdOf(field.value.replace(/^.*#/u, ''));
    problem.hidden = id !== null;
    problem.textContent =
      id === null ? 'This is not the id of an order, which has 36 characters, such as 0b6c….' : '';
    field.setAttribute('aria-invalid', String(id === null));
    if (id === null) return;
    field.value = '';
    location.assign(`/order#${id}`);
  });
}
