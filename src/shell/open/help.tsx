import { texts } from '../texts/texts.ts';

export function Help() {
  const { title, paragraphs, links, autonomi, network, anttp } = texts.open.help;
  return (
    <>
      <details>
        <summary>{title}</summary>
        {paragraphs.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </details>
      <nav aria-label={links}>
        <ul>
          <OutsideLink url="https://autonomi.com/" text={autonomi} />
          <OutsideLink url="https://docs.autonomi.com/" text={network} />
          <OutsideLink url="https://github.com/traktion/AntTP" text={anttp} />
        </ul>
      </nav>
    </>
  );
}

function OutsideLink({ url, text }: { url: string; text: string }) {
  return (
    <li>
      <a href={url} rel="noreferrer">
        {text}
      </a>
    </li>
  );
}
