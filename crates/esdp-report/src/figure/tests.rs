//! Figures of every kind, as files.

use super::{Axis, Figure, Series};
use tiny_skia::Pixmap;

const POLICIES: [&str; 12] = [
    "esdp",
    "esdp-paper",
    "esdp-drift",
    "escb",
    "cucb",
    "cts",
    "epsilon-greedy",
    "random",
    "hauf",
    "lcf",
    "lwtf",
    "oracle",
];

fn empty() -> Figure {
    Figure::new("id", "Title", Axis::new("slot"), Axis::new("average AOU").unit("per slot"))
}

fn over_time() -> Figure {
    POLICIES.iter().enumerate().fold(empty(), |figure, (at, name)| {
        let level = 3.0 - at as f64 * 0.2;
        figure.with(
            Series::line(*name)
                .points((1..=400).map(|t| (f64::from(t), level - level / f64::from(t).sqrt(), 0.05))),
        )
    })
}

fn bars() -> Figure {
    let figure = Figure::new("bars", "Bars", Axis::categories("policy", POLICIES), Axis::new("AOU"));
    POLICIES.iter().enumerate().fold(figure, |figure, (at, name)| {
        figure.with(Series::bars(*name).point(at as f64, 3.0 - at as f64 * 0.4, 0.1))
    })
}

fn strange() -> Vec<Figure> {
    let one = |points: Vec<(f64, f64, f64)>| empty().with(Series::line("esdp").points(points));
    let nan = f64::NAN;
    let wild =
        vec![(0.0, nan, nan), (1.0, 2.0, f64::INFINITY), (2.0, nan, 0.1), (nan, 3.0, 0.1), (3.0, 4.0, -1.0)];
    let wide = vec![(1.0, 1e-9, 1e-10), (1e9, 1e9, 1e8), (1e18, -1e9, 0.0)];
    let huge = vec![(-1e308, 1e308, 1e308), (1e308, -1e308, 0.0), (f64::MAX, f64::MIN, 0.0)];
    let logarithmic = |points: Vec<(f64, f64, f64)>| {
        Figure::new("log", "Log", Axis::new("x").log(), Axis::new("y").log())
            .with(Series::markers("m").points(points))
    };
    let many = (0..200).fold(empty(), |figure, at| {
        figure.with(
            Series::line(format!("series number {at}")).points([(0.0, f64::from(at), 1.0), (1.0, 0.0, 1.0)]),
        )
    });
    let many_bars = (0..200).fold(empty(), |figure, at| {
        figure.with(
            Series::bars(format!("{at}")).points((0..9).map(|x| (f64::from(x), f64::from(at - 100), 3.0))),
        )
    });
    vec![
        empty(),
        empty().with(Series::line("nothing")),
        empty().with(Series::bars("nothing")),
        one(vec![(5.0, 5.0, 1.0)]),
        one(vec![(5.0, 5.0, 0.0); 3]),
        one(wild.clone()),
        one(wide.clone()),
        one(huge.clone()),
        one((0..100_000).map(|t| (f64::from(t), f64::from(t % 97), 1.0)).collect()),
        logarithmic(wild),
        logarithmic(wide),
        logarithmic(huge),
        logarithmic(vec![(1.0, 0.0, 0.0)]),
        many,
        many_bars,
        Figure::new("", "", Axis::categories("", Vec::<String>::new()), Axis::new(""))
            .with(Series::bars("").point(7.0, 1.0, 0.0)),
        Figure::new("x", "x".repeat(5000), Axis::new("x".repeat(5000)), Axis::new("y".repeat(5000)))
            .with(Series::line("z".repeat(5000)).point(0.0, 1.0, 0.0)),
    ]
}

#[test]
fn labels_units_and_names_are_in_the_svg() {
    let svg = over_time().svg();
    for text in [">slot<", ">average AOU (per slot)<", ">epsilon-greedy<", "<title>Title</title>", "#0072b2"]
    {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
}

#[test]
fn a_small_svg_to_the_letter() {
    let figure = empty().with(Series::line("esdp").point(0.0, 1.0, 0.0).point(10.0, 2.0, 0.0));
    let svg = figure.svg();
    let line = svg.lines().find(|line| line.contains("stroke-width=\"2.4\"")).expect("the line of esdp");
    assert_eq!(line, r##"<path d="M53.1 300.4L495.5 27.6" stroke="#0072b2" stroke-width="2.4"/>"##);
}

#[test]
fn hostile_names_are_text() {
    let figure = Figure::new("../<x>", "</title><script>", Axis::new("a & b"), Axis::new("\"q\" \u{7}"))
        .with(Series::line("<b onclick='x'>").point(1.0, 1.0, 0.0));
    let svg = figure.svg();
    for text in
        ["&lt;b onclick=&#39;x&#39;&gt;", "a &amp; b", "&quot;q&quot;", "&lt;/title&gt;&lt;script&gt;"]
    {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("<script") && !svg.contains('\u{7}'));
    assert_eq!(figure.file_stem(), "----x-");
}

#[test]
fn the_csv_has_every_digit() {
    let figure = Figure::new("csv", "", Axis::categories("policy", ["a,b", "c"]), Axis::new("y"))
        .with(Series::bars("say \"x\"").point(0.0, 0.1 + 0.2, 0.0).point(1.0, f64::NAN, 1e-20))
        .with(Series::bars("n").point(5.0, -3.0, f64::INFINITY));
    let expected = "series,x,y,stderr\n\
                    \"say \"\"x\"\"\",\"a,b\",0.30000000000000004,0\n\
                    \"say \"\"x\"\"\",c,,0.00000000000000000001\n\
                    n,5,-3,\n";
    assert_eq!(figure.csv(), expected);
}

#[test]
fn the_description_names_the_last_values() {
    let figure = empty().with(Series::line("esdp").point(1.0, 2.0, 0.0).point(2000.0, 2.5, 0.25));
    assert_eq!(
        figure.description(),
        "Line chart: average AOU (per slot) against slot. esdp: 2.5 ± 0.25 at 2,000."
    );
    assert!(
        bars().description().starts_with("Bar chart: AOU against policy. esdp: 3 ± 0.1; esdp-paper: 2.6")
    );
}

#[test]
fn strange_figures_are_drawn_all_the_same() {
    for (at, figure) in strange().into_iter().enumerate() {
        let svg = figure.svg();
        assert!(svg.ends_with("</svg>\n"), "figure {at}");
        assert!(!svg.contains("NaN") && !svg.contains("inf "), "figure {at}");
        assert!(svg.len() < 2_000_000, "figure {at}: {} bytes", svg.len());
        let png = figure.png().unwrap_or_else(|error| panic!("figure {at}: {error}"));
        assert!(Pixmap::decode_png(&png).unwrap().height() < 4000, "figure {at}");
        assert!(figure.page_data().to_string().len() < 2_000_000, "figure {at}");
    }
}

/// How many pixels have about this colour.
fn count(image: &Pixmap, color: [u8; 3]) -> usize {
    let near = |pixel: &&[u8]| pixel.iter().zip(color).all(|(a, b)| a.abs_diff(b) < 4);
    image.data().chunks_exact(4).filter(near).count()
}

#[test]
fn the_png_is_not_blank_and_twice_as_large() {
    for figure in [over_time(), bars()] {
        let image = Pixmap::decode_png(&figure.png().unwrap()).unwrap();
        assert_eq!(image.width(), 1200);
        assert!(count(&image, [255, 255, 255]) > 100_000, "the ground is white");
        assert!(count(&image, [0x00, 0x72, 0xb2]) > 1_000, "esdp is blue");
        assert!(count(&image, [0x22, 0x22, 0x22]) > 1_000, "text and axes are dark");
    }
}

#[test]
fn nothing_covers_the_legend_and_the_legend_covers_nothing() {
    // Right of the last tick there is room for the legend only: no line reaches it.
    let image = Pixmap::decode_png(&over_time().png().unwrap()).unwrap();
    let svg = over_time().svg();
    let names = svg.lines().filter(|line| POLICIES.iter().any(|name| line.contains(&format!(">{name}<"))));
    assert_eq!(names.count(), POLICIES.len());
    let edge = 2 * svg
        .lines()
        .find(|line| line.contains(">esdp<"))
        .and_then(|line| line.split("x=\"").nth(1)?.split('.').next()?.parse::<u32>().ok())
        .expect("the place of the first name")
        - 2 * 46;
    let column = (40..600).map(|y| image.pixel(edge, y).unwrap());
    assert!(column.into_iter().all(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (255, 255, 255)));
}

#[test]
fn a_figure_is_three_files() {
    let names = over_time().files().unwrap().map(|(name, _)| name);
    assert_eq!(names, ["id.svg", "id.png", "id.csv"]);
}

#[test]
fn a_scatter_has_a_dot_for_every_value_and_a_guide_takes_no_colour() {
    let dots = Series::scatter("esdp").dot((0.2, 0.3, 0.1), "a, b", 0.0).dot((0.2, 0.5, 0.0), "c", 1.0);
    let figure = Figure::new("f", "t", Axis::new("true"), Axis::new("learned"))
        .with(Series::guide("same").point(0.0, 0.0, 0.0).point(1.0, 1.0, 0.0))
        .with(dots)
        .with(Series::line("other").point(0.0, 0.1, 0.0).point(1.0, 0.1, 0.0));
    // Two values at one place across are two dots; the legend has a third.
    assert_eq!(figure.svg().matches("fill-opacity=\"0.2\"").count(), 1);
    assert_eq!(figure.svg().matches("fill-opacity=\"0.8\"").count(), 1);
    assert!(figure.png().is_ok_and(|png| png.starts_with(b"\x89PNG")));
    assert_eq!(
        figure.csv().lines().take(4).collect::<Vec<_>>(),
        ["series,x,y,stderr,name,weight", "same,0,0,0,,", "same,1,1,0,,", "esdp,0.2,0.3,0.1,\"a, b\",0"]
    );
    let page = figure.page_data();
    assert_eq!(page["series"][1]["dots"], serde_json::json!([["a, b", 0], ["c", 1]]));
    assert_eq!(page["series"][1]["style"], "scatter");
    let alone = Figure::new("f", "t", Axis::new("x"), Axis::new("y")).with(Series::line("other"));
    assert_ne!(page["series"][0]["light"], alone.page_data()["series"][0]["light"]);
    assert!(figure.description().contains("esdp: 2 values"), "{}", figure.description());
}

#[test]
fn a_fitted_line_has_the_colour_of_its_series_and_no_place_of_its_own() {
    let figure = Figure::new("f", "f", Axis::new("x"), Axis::new("y"))
        .with(Series::line("a").point(0.0, 1.0, 0.0).point(1.0, 2.0, 0.0))
        .with(Series::guide("a, fitted").like("a").point(0.0, 1.0, 0.0).point(1.0, 2.0, 0.0))
        .with(Series::line("b").point(0.0, 1.0, 0.0).point(1.0, 2.0, 0.0));
    let data = figure.page_data();
    let colour = |at: usize| data["series"][at]["light"].as_str().unwrap().to_owned();
    assert_eq!(colour(0), colour(1));
    assert_ne!(colour(0), colour(2));
}

#[test]
fn texts_of_a_drawing_are_as_wide_as_the_layout_reckons_whatever_the_font() {
    let figure = Figure::new("f", "f", Axis::new("x"), Axis::new("y"))
        .with(Series::line("a name in the legend").point(0.0, 1.0, 0.0).point(1.0, 2.0, 0.0))
        .with(Series::line("b").point(0.0, 1.0, 0.0));
    let svg = figure.svg();
    let legend = svg.lines().find(|line| line.contains(">a name in the legend<")).unwrap();
    let value = |name: &str| -> f64 {
        let rest = legend.split(&format!(" {name}=\"")).nth(1).expect("it is said");
        rest.split('"').next().unwrap().parse().unwrap()
    };
    assert!(value("x") + value("textLength") < 600.0, "{legend}");
}

#[test]
fn a_wide_band_leaves_the_values_of_a_logarithmic_axis_their_room() {
    let figure = |stderr: f64| {
        Figure::new("f", "f", Axis::new("x"), Axis::new("y").log())
            .with(Series::line("a").point(0.0, 10.0, stderr).point(1.0, 1000.0, 0.0))
    };
    let ticks = |stderr: f64| figure(stderr).svg().matches("text-anchor=\"end\"").count();
    // The end of the band is at 0.001, four powers of ten below the values.
    assert!(ticks(9.999) <= ticks(0.0) + 2, "{} and {}", ticks(9.999), ticks(0.0));
}
