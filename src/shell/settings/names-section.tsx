import { shortAddress } from '../../address.ts';
import type { NameBook } from '../../names/name-book.ts';
import { asName } from '../../names/petname.ts';
import { changeNames, withName } from '../names/change-names.ts';
import { textOfNameProblem } from '../names/name-problem.ts';
import SiteNames from '../names/site-names.tsx';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { nameTexts } from '../texts/names.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { addressIn } from './address-in.ts';
import { BookmarkFiles } from './bookmark-files.tsx';

interface Props {
  names: NameBook;
  /** Address → title of the sites in the library. */
  titles: ReadonlyMap<string, string>;
}

/** The user's names, which the user can change, and those of the host. */
export function NamesSection({ names, titles }: Props) {
  const { error, announcement, clear, run } = useAction(() => undefined);
  const t = texts.settings;
  const own = Object.fromEntries(
    names.all.filter(({ source }) => source.kind === 'own').map(({ name, address }) => [name, address]),
  );
  const host = names.all.filter(({ source }) => source.kind === 'host');
  const place = (address: string) => (
    <>
      <span class="address label" title={address}>
        {shortAddress(address)}
      </span>{' '}
      {titles.has(address) && <bdi class="label">{titles.get(address)}</bdi>}
    </>
  );
  return (
    <Section id="names" title={t.names}>
      <p class="note">{t.namesNote}</p>
      <ul class="setting-list">
        {[...new Set(Object.values(own))].map((address) => (
          <li key={address}>
            <SiteNames address={address} title={titles.get(address) ?? shortAddress(address)} isLinked />
            <span class="setting-name">{place(address)}</span>
          </li>
        ))}
        {host.map(({ name, address }) => (
          <li key={`host ${name}`}>
            <span class="setting-name">
              <a href={`/${name}/`}>{name}</a> {place(address)}
            </span>
            <span class="setting-actions">
              <span class="label">{t.ofHost}</span>
            </span>
          </li>
        ))}
      </ul>
      <TextForm
        fields={[
          {
            id: 'new-name',
            label: t.name,
            isMono: true,
            problemOf: (name) => textOfNameProblem(name, own, ''),
          },
          {
            id: 'new-address',
            label: t.address,
            isMono: true,
            problemOf: (text) => (addressIn(text) ? null : t.addressBad),
          },
        ]}
        submit={t.add}
        submitLabel={t.addName}
        onProblem={clear}
        onSubmit={(text, address) => {
          const name = asName(text.replace(/^~/, ''));
          return run(
            () =>
              changeNames((all) =>
                withName(all, name, addressIn(address)!.hex, nameTexts().taken(`~${name}`)),
              ),
            nameTexts().saved(`~${name}`),
          );
        }}
      />
      <p class={error ? 'note note-problem' : 'note'} role="status">
        {error ? <ProblemText problem={error} /> : announcement}
      </p>
      <BookmarkFiles own={own} host={Object.fromEntries(host.map(({ name, address }) => [name, address]))} />
    </Section>
  );
}
