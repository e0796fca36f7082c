import type { NameBook } from '../../names/name-book.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { NameListsSection } from './name-lists-section.tsx';
import { NamesSection } from './names-section.tsx';

interface Props {
  names: NameBook;
  /** Address → title of the sites in the library. */
  titles: ReadonlyMap<string, string>;
  config: GatewayConfig;
  onChange: () => void;
}

/** The settings of names. The first screen does not need their code. */
export default function NamesPart({ names, titles, config, onChange }: Props) {
  return (
    <>
      <NamesSection names={names} titles={titles} />
      <NameListsSection config={config} onChange={onChange} />
    </>
  );
}
