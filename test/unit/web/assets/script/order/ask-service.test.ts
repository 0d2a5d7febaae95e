import { expect, test } from 'vitest';
import { messagesIn } from '#web/assets/script/order/ask-service.js';

test('messages are found in each form of an error, and in no answer', () => {
  expect(messagesIn({ error: [{ msg: 'one' }, { msg: 'two' }] })).toEqual(['one', 'two']);
  expect(messagesIn({ status: 'error', error: 'no such order' })).toEqual(['no such order']);
  expect(messagesIn({ success: false, status: 400, message: 'a\nb', stack: {} })).toEqual(['a', 'b']);
  // the `error` of a stopped order is its reason, not a list of messages
  expect(messagesIn({ id: 'x', status: 'ok', state: 'error', error: 'the sats are gone' })).toBeNull();
  expect(messagesIn({ status: 'error', reason: 'no block is indexed' })).toEqual(['no block is indexed']);
  expect([null, 5, 'text', []].map(messagesIn)).toEqual([null, null, null, null]);
});
