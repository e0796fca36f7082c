/** A recovery phrase, as numbered words. */
export function Words({ phrase }: { phrase: string }) {
  return (
    <ol class="phrase-words" translate={false} lang="en">
      {phrase.split(' ').map((word, i) => (
        <li key={`${i} ${word}`}>{word}</li>
      ))}
    </ol>
  );
}
