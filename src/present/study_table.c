/*
 * Writes HTML tables with a caption, header cells for rows and columns, and a frame that scrolls on
 * small screens.
 */
#include "study_render.h"

void hm__table_begin(struct hm_text *out, const char *caption, const char *const *columns)
{
    hm__text_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    hm__xml_text(out, caption);
    hm__text_add(out, "\"><table>\n<caption>");
    hm__xml_text(out, caption);
    hm__text_add(out, "</caption>\n<thead><tr>");
    for (; *columns; columns++) {
        bool number = **columns == '*';
        hm__text_addf(out, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        hm__xml_text(out, *columns + number);
        hm__text_add(out, "</th>");
    }
    hm__text_add(out, "</tr></thead>\n<tbody>");
}

void hm__table_row(struct hm_text *out, const char *head)
{
    hm__text_add(out, "\n<tr><th scope=\"row\">");
    hm__xml_text(out, head);
    hm__text_add(out, "</th>");
}

void hm__table_text(struct hm_text *out, const char *text)
{
    hm__text_add(out, "<td>");
    hm__xml_text(out, text);
    hm__text_add(out, "</td>");
}

void hm__table_number(struct hm_text *out, const char *text)
{
    hm__text_add(out, "<td class=\"n\">");
    hm__xml_text(out, text);
    hm__text_add(out, "</td>");
}

void hm__table_row_end(struct hm_text *out)
{
    hm__text_add(out, "</tr>");
}

void hm__table_end(struct hm_text *out)
{
    hm__text_add(out, "\n</tbody></table></div>\n");
}
