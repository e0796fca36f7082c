import { useState } from 'preact/hooks';
import { isLanguage, languages } from '../../languages.ts';
import { themes } from '../../themes.ts';
import { chooseLanguage, chooseTheme, chosenLanguage, chosenTheme, tellAppearance } from '../preferences.ts';
import { Section } from '../section.tsx';
import { languageNames, texts } from '../texts/texts.ts';

export function Appearance({ onLanguage }: { onLanguage: () => void }) {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Section id="appearance" title={texts.settings.appearance}>
      <fieldset class="choice">
        <legend>{texts.settings.theme}</legend>
        <div class="segments">
          {[null, ...themes].map((each) => (
            <label key={each ?? 'auto'}>
              <input
                type="radio"
                name="theme"
                checked={theme === each}
                onChange={() => {
                  chooseTheme(each);
                  setTheme(each);
                  void tellAppearance();
                }}
              />
              <span>{texts.settings.themes[each ?? 'auto']}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <label class="field field-row">
        <span class="field-label">{texts.settings.languageLabel}</span>
        <select
          id="language"
          value={chosenLanguage() ?? ''}
          onChange={async ({ currentTarget: { value } }) => {
            await chooseLanguage(isLanguage(value) ? value : null);
            onLanguage();
            // The change has mounted everything anew, so the focus is lost.
            document.getElementById('language')?.focus();
          }}
        >
          <option value="">{texts.settings.languageAuto}</option>
          {languages.map((each) => (
            <option key={each} value={each} lang={each}>
              {languageNames[each]}
            </option>
          ))}
        </select>
      </label>
    </Section>
  );
}
