import { type AntWholeSink, createPublisher } from '@antway/publish';
import {
  type AntChain,
  type AntJournal,
  type AntPrice,
  type AntWallet,
  databaseJournal,
  networkSink,
  paymentProblem,
} from '@antway/publish/network';

declare const ethereum: AntWallet;

/** Pays for a file with the page's wallet, publishes it once more, and then lets the user refuse another file. */
export async function publishPaid(relay: string, chain: AntChain) {
  const prices: AntPrice[] = [];
  const journal: AntJournal = databaseJournal();
  const sink: AntWholeSink = networkSink({
    relays: [relay],
    wallet: ethereum,
    maxCost: '1',
    onPrice: (price) => void prices.push(price),
    journal,
    chain,
  });
  const publisher = createPublisher({ sink });
  const file = new File(['stored in the network, and paid for'], 'paid.txt');
  const [{ address, uri }] = await Promise.all([publisher.publish(file), publisher.publish(file)]);
  const refusing = createPublisher({
    sink: networkSink({ relays: [relay], wallet: ethereum, maxCost: '0', journal, chain }),
  });
  const problem = await refusing.publish(new Blob(['too expensive'])).then(() => undefined, paymentProblem);
  refusing.close();
  publisher.close();
  return { address, uri, due: prices.map(({ dueChunks }) => dueChunks), problem };
}
