import { describe, expect, it } from 'vitest';
import { frameMessages } from '../../src/nodes/frames.ts';
import { Inbox, type OwedAnswer } from '../../src/nodes/inbox.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const answerBytes = 100;

function open() {
  const clock = new VirtualClock();
  let failedAt: number | undefined;
  let answered: OwedAnswer | undefined;
  const inbox = new Inbox(clock, {
    onPayload: () => answered?.received(),
    onBytes: () => undefined,
    onFailed: () => {
      failedAt = clock.now();
    },
  });
  const answer = (owed: OwedAnswer) => {
    answered = owed;
    for (const message of frameMessages(new Uint8Array(answerBytes))) inbox.take(message);
  };
  return { clock, inbox, answer, expectAnswer: () => inbox.expect(answerBytes), failedAt: () => failedAt };
}

describe('the watch of the answers of a node', () => {
  it('notices silence while another request is sent', async () => {
    const { clock, expectAnswer, failedAt } = open();
    expectAnswer().sent();
    expectAnswer();
    await clock.pass(60_000);
    expect(failedAt()).toBe(nodeLimits.stallMs);
  });

  it('awaits no answer while the only request is sent', async () => {
    const { clock, expectAnswer, failedAt } = open();
    const owed = expectAnswer();
    await clock.pass(60_000);
    expect(failedAt()).toBeUndefined();
    owed.sent();
    await clock.pass(60_000);
    expect(failedAt()).toBe(60_000 + nodeLimits.stallMs);
  });

  it('gives the time of a request that is answered to no other one', async () => {
    const { clock, expectAnswer, answer, failedAt } = open();
    expectAnswer().sent();
    const put = expectAnswer();
    // The page sees later that the node has the request.
    answer(put);
    await clock.pass(250);
    put.sent(nodeLimits.putMs);
    await clock.pass(200_000);
    expect(failedAt()).toBe(nodeLimits.stallMs);
  });

  it('notices silence once the request is answered for which the node needs most time', async () => {
    const { clock, expectAnswer, answer, failedAt } = open();
    const put = expectAnswer();
    put.sent(nodeLimits.putMs);
    expectAnswer().sent();
    await clock.pass(15_000);
    answer(put);
    await clock.pass(200_000);
    expect(failedAt()).toBe(15_000 + nodeLimits.stallMs);
  });

  it('notices an answer that stops while another request is sent', async () => {
    const { clock, inbox, expectAnswer, failedAt } = open();
    expectAnswer();
    inbox.take(new Uint8Array([0, 0, 0, answerBytes]));
    await clock.pass(200_000);
    expect(failedAt()).toBe(nodeLimits.stallMs);
  });
});
