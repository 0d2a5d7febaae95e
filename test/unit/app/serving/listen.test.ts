import dns from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { listen } from '#src/app/serving/listen.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

/**
 * Gives `localhost` several addresses, like some hosts do. The second one takes the place of ::1, which a host may
 * lack.
 */
function giveLocalhostTwoAddresses(): void {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const { lookup } = dns;
  type Answer = (error: null, found: typeof addresses) => void;
  const fake = (host: string, options: dns.LookupAllOptions, answer: Answer): void => {
    if (host === 'localhost') answer(null, addresses);
    else lookup(host, options, (_error, found) => answer(null, found));
  };
  vi.spyOn(dns, 'lookup').mockImplementation(fake as unknown as typeof lookup);
}

test('a name with several addresses is listened on at one of them: a second server would lack our limits', async () => {
  giveLocalhostTwoAddresses();
  const app = createRoutesApp();
  try {
    const port = await listen(app, 'localhost', 0);
    const first = connect(port, '127.0.0.1');
    await once(first, 'connect');
    first.destroy();
    await expect(once(connect(port, '127.0.0.2'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  } finally {
    await app.close();
  }
});

test('an unknown name is no address to listen on', async () => {
  const app = createRoutesApp();
  try {
    await expect(listen(app, 'nowhere.invalid', 0)).rejects.toMatchObject({ code: 'address_unusable' });
  } finally {
    await app.close();
  }
});
