/**
 * A PDF whose pages lie far apart, so that a viewer that fetches ranges does not need all of it.
 * @param bytesPerPage of a stream that nothing shows.
 */
export function makePdf(texts: readonly string[], bytesPerPage: number): Buffer {
  const pageOf = (i: number) => 4 + 3 * i;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${texts.length} /Kids [${texts.map((_, i) => `${pageOf(i)} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [i, text] of texts.entries()) {
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents ${pageOf(i) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      stream(`BT /F1 40 Tf 10 30 Td (${text}) Tj ET`),
      stream('x'.repeat(bytesPerPage)),
    );
  }
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const offset = pdf.length;
    pdf += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
  return Buffer.from(pdf + table + trailer, 'latin1');
}

function stream(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}
