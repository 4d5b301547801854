/* Tables of HTML: a caption, headings with their scope, and a frame that scrolls on small screens.
 */
#include "study_render.h"

void hm_table_begin(struct hm_text *out, const char *caption, const char *const *columns)
{
    hm_text_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    hm_xml_text(out, caption);
    hm_text_add(out, "\"><table>\n<caption>");
    hm_xml_text(out, caption);
    hm_text_add(out, "</caption>\n<thead><tr>");
    for (; *columns; columns++) {
        bool number = **columns == '*';
        hm_text_addf(out, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        hm_xml_text(out, *columns + number);
        hm_text_add(out, "</th>");
    }
    hm_text_add(out, "</tr></thead>\n<tbody>");
}

void hm_table_row(struct hm_text *out, const char *head)
{
    hm_text_add(out, "\n<tr><th scope=\"row\">");
    hm_xml_text(out, head);
    hm_text_add(out, "</th>");
}

void hm_table_text(struct hm_text *out, const char *text)
{
    hm_text_add(out, "<td>");
    hm_xml_text(out, text);
    hm_text_add(out, "</td>");
}

void hm_table_number(struct hm_text *out, const char *text)
{
    hm_text_add(out, "<td class=\"n\">");
    hm_xml_text(out, text);
    hm_text_add(out, "</td>");
}

void hm_table_row_end(struct hm_text *out)
{
    hm_text_add(out, "</tr>");
}

void hm_table_end(struct hm_text *out)
{
    hm_text_add(out, "\n</tbody></table></div>\n");
}
