/**
 * Returns the notes of a version from the text of `CHANGELOG.md`: the section of the version, or of what is unreleased.
 * @param version such as `1.2.3`; undefined for what is unreleased.
 * @throws Error if the section is missing or empty.
 */
export function notesOf(changelog: string, version: string | undefined): string {
  const wanted = version ?? 'Unreleased';
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => titleOf(text) === wanted);
  const notes = section?.slice(section.indexOf('\n') + 1).trim();
  if (!notes) throw new Error(`CHANGELOG.md has no section “${wanted}” with text.`);
  return `${notes}\n`;
}

/** `[1.2.3] - 2026-01-31` and `1.2.3` are the same title. */
function titleOf(section: string): string | undefined {
  return /^\[?([^\]\s]+)/.exec(section)?.[1];
}
