// The page about findings: addresses of its sections.

/** The line of the section about a finding, from 1; 0 if there is none. */
export function sectionLine(page: string, code: string): number {
  return page.split(/\r?\n/).findIndex((line) => line.startsWith(`## ${code} `)) + 1;
}
