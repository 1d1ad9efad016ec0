// The interactive parts of a report's page: theme, sorting, filtering, values under the pointer.
(() => {
  'use strict';

  /** @param {string} id */
  const byId = (id) => document.getElementById(id);

  function themes() {
    const label = byId('theme');
    const select = label.querySelector('select');
    label.hidden = false;
    select.addEventListener('change', () => {
      if (select.value === 'auto') delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = select.value;
    });
  }

  const collator = new Intl.Collator('en', { numeric: true });

  /** Sorts numbers by size within each scale, and other cells by name; cells without a value stay last. */
  function compare(a, b, direction) {
    const [x, y] = [a, b].map((cell) => (cell.dataset.sort === undefined ? null : Number(cell.dataset.sort)));
    const [own, other] = [a, b].map((cell) => cell.dataset.scale ?? '');
    if (x !== null && y !== null) return collator.compare(own, other) || direction * (x - y);
    if (x !== null || y !== null) return x === null ? 1 : -1;
    return direction * collator.compare(a.textContent, b.textContent);
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], direction));
    body.append(...rows);
  }

  function sortable(table) {
    const headings = [...table.tHead.rows].at(-1).cells;
    [...headings].forEach((heading, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener('click', () => {
        const ascending = heading.getAttribute('aria-sort') !== 'ascending';
        for (const other of headings) other.removeAttribute('aria-sort');
        heading.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
        sort(table, column, ascending ? 1 : -1);
      });
    });
  }

  function filter() {
    const controls = byId('filter');
    if (!controls) return;
    const [text, verdict, count] = ['filter-text', 'filter-verdict', 'filter-count'].map(byId);
    const ratios = byId('ratios');
    const rest = ratios ? 'the rest, and the drawing of all ratios, are hidden' : 'the rest are hidden';
    const rows = [...document.querySelectorAll('#results tbody tr[data-metric]')];
    const verdicts = new Map();
    const texts = new Map();
    for (const row of rows) {
      const { metric, verdicts: own = '' } = row.dataset;
      verdicts.set(metric, `${verdicts.get(metric) ?? ''} ${own}`);
      texts.set(metric, `${texts.get(metric) ?? ''} ${row.cells[0].textContent}`.toLowerCase());
    }
    const apply = () => {
      const wanted = text.value.trim().toLowerCase();
      const judged = verdict?.value ?? '';
      const isShown = (metric) =>
        (texts.get(metric) ?? '').includes(wanted) &&
        (judged === '' || (verdicts.get(metric) ?? '').split(' ').includes(judged));
      for (const element of document.querySelectorAll('[data-metric]'))
        element.hidden = !isShown(element.dataset.metric);
      const isFiltered = wanted !== '' || judged !== '';
      controls.classList.toggle('filtered', isFiltered);
      if (ratios) ratios.hidden = isFiltered;
      const shown = [...texts.keys()].filter(isShown).length;
      count.textContent = isFiltered ? `${shown} of ${texts.size} metrics; ${rest}` : `${texts.size} metrics`;
    };
    controls.hidden = false;
    text.addEventListener('input', apply);
    verdict?.addEventListener('change', apply);
    apply();
  }

  /** Only regions that scroll must be reachable by the keyboard and be landmarks. */
  function regions() {
    const observer = new ResizeObserver((entries) => {
      for (const region of new Set(entries.map(({ target }) => target.closest('.scroll')))) {
        const scrolls = region.scrollWidth > region.clientWidth;
        region.role = scrolls ? 'region' : 'group';
        if (scrolls) region.tabIndex = 0;
        else region.removeAttribute('tabindex');
      }
    });
    for (const region of document.querySelectorAll('.scroll')) {
      observer.observe(region);
      observer.observe(region.firstElementChild);
    }
  }

  function tips() {
    const tip = byId('tip');
    const hide = () => {
      tip.hidden = true;
    };
    const show = ({ target, clientX, clientY }) => {
      const mark = target instanceof Element ? target.closest('[data-tip]') : null;
      if (!mark) return hide();
      tip.textContent = mark.getAttribute('data-tip');
      tip.hidden = false;
      const { width, height } = tip.getBoundingClientRect();
      const { clientWidth, clientHeight } = document.documentElement;
      const left = Math.max(4, Math.min(clientX + 12, clientWidth - width - 4));
      const below = clientY + 18;
      tip.style.left = `${left}px`;
      tip.style.top = `${below + height > clientHeight ? clientY - height - 10 : below}px`;
    };
    document.addEventListener('pointermove', show);
    document.addEventListener('pointerdown', show);
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide());
    // Captures the scrolling of regions too, which does not bubble.
    document.addEventListener('scroll', hide, { passive: true, capture: true });
  }

  /** Opens a folded section that a link leads to. */
  function folds() {
    const open = () => {
      const section = byId(document.location.hash.slice(1));
      const fold = section?.querySelector(':scope > .fold');
      if (fold) fold.open = true;
    };
    document.defaultView.addEventListener('hashchange', open);
    open();
  }

  themes();
  folds();
  for (const table of document.querySelectorAll('table')) sortable(table);
  filter();
  regions();
  tips();
})();
